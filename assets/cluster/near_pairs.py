"""Pairs of similar clusters (`cluster.near_pairs`), with those that could be merged."""

import dagster as dg
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.cohesion import labelled_clusters
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from resources.embedding.embedder import Embedder
from resources.warehouse import Warehouse

ROUNDING = 1e-6
"""Tolerance below tau: the similarity is computed again, which may round differently."""


class NearPairsSettings(AssetConfig):
    """Settings of listed pairs: number of nearest clusters, and the lowest similarity."""

    n_nearest: int = Field(5, ge=1, description="How many nearest clusters of each.")
    min_similarity: float = Field(0.7, ge=-1, le=1, description="Lowest cosine of two centres.")


@table_asset("cluster.near_pairs", deps=[clusters])
def near_pairs(
    config: NearPairsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Pairs of clusters with similar centres, and whether they could be merged."""
    from methods.clustering.cohesion import measure_cohesion, near_centre_pairs

    about, labelled = labelled_clusters(warehouse, embedder.name)
    sizes, _, lowest = measure_cohesion(labelled)
    bounds = [min(cluster["tau"], lowest[i]) for i, cluster in enumerate(about)]
    pairs = near_centre_pairs(labelled, config.n_nearest, config.min_similarity)
    rows = [
        {
            # Clusters are sorted by id, so cluster_a < cluster_b.
            "cluster_a": about[pair.a]["cluster_id"],
            "cluster_b": about[pair.b]["cluster_id"],
            "title_a": about[pair.a]["title"],
            "title_b": about[pair.b]["title"],
            "size_a": int(sizes[pair.a]),
            "size_b": int(sizes[pair.b]),
            "same_group": about[pair.a]["group_id"] == about[pair.b]["group_id"],
            "similarity": pair.similarity,
            "union_similarity": pair.union_similarity,
            "mergeable": pair.union_similarity >= min(bounds[pair.a], bounds[pair.b]) - ROUNDING,
        }
        for pair in pairs
    ]
    table = write_rows(warehouse, {"cluster.near_pairs": rows})
    return report(table, {"pairs": len(pairs), "mergeable": sum(table["mergeable"].to_pylist())})
