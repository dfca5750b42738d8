"""Vectors to groups and clusters.

What belongs here: which pass follows which. The algorithms are `methods/clustering/`.
"""

import dagster as dg
from pydantic import Field

from assets.cluster.embeddings import embeddings
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from methods.clustering.placement import place_entries
from resources.warehouse import Warehouse


class ClusterConfig(dg.Config):
    """MMDU joins entries at a cosine of at least 0.75 (3.1)."""

    tau: float = Field(0.75, ge=-1, le=1)


@table_asset("cluster.clusters", deps=[embeddings], automation_condition=WHEN_READY)
def clusters(config: ClusterConfig, warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
    """Groups by category, then clusters by caption inside each; every entry has its row."""
    import numpy as np

    vectors = warehouse.read("cluster/vectors").to_pydict()
    placements = place_entries(
        vectors["entry_id"],
        np.array(vectors["category"], dtype=np.float32),
        np.array(vectors["caption"], dtype=np.float32),
        config.tau,
    )
    table = rows_to_arrow("cluster.clusters", [vars(placement) for placement in placements])
    warehouse.replace("cluster.clusters", table)
    return report(
        table,
        {
            "tau": config.tau,
            "groups": len({placement.group_id for placement in placements} - {None}),
            "clusters": len({placement.cluster_id for placement in placements} - {None}),
            "entries in no cluster": sum(p.cluster_id is None for p in placements),
        },
    )
