"""How tight the clusters are, and which of them may be one.

What belongs here: from the tables to numbered clusters and back. The figures are
`methods/clustering/cohesion.py`.
"""

from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.embeddings import entry_vectors
from assets.common.tables import WHEN_READY, report, rows_to_arrow, table_asset
from resources.embedder import Embedder
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from methods.clustering.cohesion import Numbered

ROUNDING = 1e-6
"""What a similarity may fall short of tau by when it is made a second time."""


def numbered_clusters(warehouse: Warehouse, model: str) -> "tuple[list[dict[str, Any]], Numbered]":
    """Id, group, title and tau of each cluster, sorted by id, and its vectors, by these numbers.

    Raises dg.Failure when entries have gone since they were clustered.
    """
    import numpy as np

    from methods.clustering.cohesion import Numbered

    of_entries = entry_vectors(warehouse, model)
    about = warehouse.read("cluster/cluster_centres").to_pylist()
    centres = np.array([cluster.pop("vector") for cluster in about], dtype=np.float32)
    row_of = {entry_id: row for row, entry_id in enumerate(of_entries.entry_ids)}
    number_of = {cluster["cluster_id"]: number for number, cluster in enumerate(about)}
    labels = np.full(len(row_of), -1, dtype=np.intp)
    is_centre = np.zeros(len(row_of), dtype=bool)
    try:
        for member in warehouse.read("cluster/cluster_members").to_pylist():
            row = row_of[member["entry_id"]]
            labels[row] = number_of[member["cluster_id"]]
            is_centre[row] = member["is_centre"]
    except KeyError:
        raise dg.Failure(
            "Entries have changed or gone since they were clustered: materialize the job cluster.",
            allow_retries=False,
        ) from None
    captions = of_entries.captions
    return about, Numbered(captions, labels, is_centre, centres.reshape(-1, captions.shape[-1]))


@table_asset("cluster.cohesion", deps=[clusters], automation_condition=WHEN_READY)
def cohesion(
    warehouse: dg.ResourceParam[Warehouse], embedder: dg.ResourceParam[Embedder]
) -> dg.MaterializeResult:
    """Size and tightness of each cluster, and the cluster nearest to it."""
    from methods.clustering.cohesion import figures, nearest_centres

    about, numbered = numbered_clusters(warehouse, embedder.name)
    sizes, mean, lowest = figures(numbered)
    nearest, similarity = nearest_centres(numbered.centres, 1)
    rows = [
        {
            **cluster,
            "size": int(sizes[i]),
            "mean_similarity": float(mean[i]),
            "min_similarity": float(lowest[i]),
        }
        for i, cluster in enumerate(about)
    ]
    # One cluster by itself has no nearest.
    for i, row in enumerate(rows if len(rows) > 1 else []):
        row["nearest_cluster"] = about[nearest[i, 0]]["cluster_id"]
        row["nearest_similarity"] = float(similarity[i, 0])
    table = rows_to_arrow("cluster.cohesion", rows)
    warehouse.replace("cluster.cohesion", table)
    return report(
        table,
        {
            "clusters": len(rows),
            "mean size": float(sizes.mean()) if rows else 0.0,
            "mean similarity to the centre": float(mean.mean()) if rows else 0.0,
        },
    )


class NearPairsConfig(dg.Config):
    """Which clusters are compared: the nearest of each, when their centres are this similar."""

    n_nearest: int = Field(5, ge=1)
    min_similarity: float = Field(0.7, ge=-1, le=1)


@table_asset("cluster.near_pairs", deps=[clusters], automation_condition=WHEN_READY)
def near_pairs(
    config: NearPairsConfig,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Pairs of clusters whose centres are near each other, and whether the two could be one."""
    from methods.clustering.cohesion import figures, pairs_of_centres

    about, numbered = numbered_clusters(warehouse, embedder.name)
    sizes, _, lowest = figures(numbered)
    bounds = [min(cluster["tau"], lowest[i]) for i, cluster in enumerate(about)]
    pairs = pairs_of_centres(numbered, config.n_nearest, config.min_similarity)
    table = rows_to_arrow(
        "cluster.near_pairs",
        [
            {
                # Clusters are numbered by their ids, so a < b holds for these too.
                "cluster_a": about[pair.a]["cluster_id"],
                "cluster_b": about[pair.b]["cluster_id"],
                "title_a": about[pair.a]["title"],
                "title_b": about[pair.b]["title"],
                "size_a": int(sizes[pair.a]),
                "size_b": int(sizes[pair.b]),
                "same_group": about[pair.a]["group_id"] == about[pair.b]["group_id"],
                "similarity": pair.similarity,
                "union_similarity": pair.union,
                "mergeable": pair.union >= min(bounds[pair.a], bounds[pair.b]) - ROUNDING,
            }
            for pair in pairs
        ],
    )
    warehouse.replace("cluster.near_pairs", table)
    return report(table, {"pairs": len(pairs), "mergeable": sum(table["mergeable"].to_pylist())})
