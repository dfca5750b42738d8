"""Cluster cohesion (`cluster.cohesion`): size, similarity to the centre, and nearest cluster."""

from typing import TYPE_CHECKING, Any

import dagster as dg
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.embeddings import entry_vectors
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from resources.embedding.embedder import Embedder
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    from methods.clustering.cohesion import LabelledVectors


def labelled_clusters(
    warehouse: Warehouse, model: str
) -> "tuple[list[dict[str, Any]], LabelledVectors]":
    """Read the clusters and the vectors of their members.

    Args:
        warehouse: The tables.
        model: The embedding model.

    Returns:
        Id, group, title and tau of each cluster, sorted by id, and the caption vectors. Their labels
        are indices into this list, -1 for entries in no cluster.

    Raises:
        dg.Failure: Entries were changed or removed after they were clustered.
    """
    import numpy as np

    from methods.clustering.cohesion import LabelledVectors

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
            "Entries were changed or removed after they were clustered: run the job cluster.",
            allow_retries=False,
        ) from None
    captions = of_entries.captions
    return about, LabelledVectors(
        captions, labels, is_centre, centres.reshape(-1, captions.shape[-1])
    )


class CohesionSettings(AssetConfig):
    """Settings of cohesion: the limit for loose clusters."""

    min_mean_similarity: float = Field(
        0.7, ge=-1, le=1, description="Mean cosine to the centre below which a check warns."
    )


@table_asset("cluster.cohesion", deps=[clusters])
def cohesion(
    config: CohesionSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Size and cohesion of each cluster, and its nearest cluster."""
    from methods.clustering.cohesion import measure_cohesion, nearest_centres

    about, labelled = labelled_clusters(warehouse, embedder.name)
    sizes, mean, lowest = measure_cohesion(labelled)
    nearest, similarity = nearest_centres(labelled.centres, 1)
    rows = [
        {
            **cluster,
            "size": int(sizes[i]),
            "mean_similarity": float(mean[i]),
            "min_similarity": float(lowest[i]),
        }
        for i, cluster in enumerate(about)
    ]
    # If there is only one cluster, it has no nearest cluster.
    for i, row in enumerate(rows if len(rows) > 1 else []):
        row["nearest_cluster"] = about[nearest[i, 0]]["cluster_id"]
        row["nearest_similarity"] = float(similarity[i, 0])
    table = write_rows(warehouse, {"cluster.cohesion": rows})
    return report(
        table,
        {
            "clusters": len(rows),
            "mean size": float(sizes.mean()) if rows else 0.0,
            "mean similarity to the centre": float(mean.mean()) if rows else 0.0,
        },
    )
