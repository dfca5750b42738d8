"""Clusters to image sets.

What belongs here: which sets are wanted. The algorithm is `methods/image_sets.py`.
"""

from itertools import groupby

import dagster as dg

from assets.cluster.clusters import clusters
from assets.ingest import duplicates, entries
from assets.partitions import bucket_key
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from methods.image_sets import Kind, Member, draw_sets
from resources.image_store import ImageStore
from resources.warehouse import Warehouse


class ImageSetsConfig(dg.Config):
    """Sizes are drawn from these lists; MMDU: 2-20 images for the benchmark, 2-5 to instruct."""

    benchmark_sizes: list[int] = [3, 4, 5, 6, 8, 10, 20]
    instruction_sizes: list[int] = [2, 3, 4, 5]
    seed: int = 0


@table_asset(
    "cluster.image_sets",
    kinds={"image"},
    deps=[clusters, entries, duplicates],
    automation_condition=WHEN_READY,
)
def image_sets(
    config: ImageSetsConfig,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Sets of related images: 2-20 for the benchmark, 2-5 for the instruction set."""
    members = warehouse.read("cluster/members").to_pylist()
    sizes_of: dict[Kind, list[int]] = {
        "benchmark": config.benchmark_sizes,
        "instruction": config.instruction_sizes,
    }
    sets = []
    for cluster_id, rows in groupby(members, key=lambda row: row["cluster_id"]):
        of_cluster = [
            Member(row["entry_id"], row["image_id"], row["page_id"], row["look"]) for row in rows
        ]
        for kind, sizes in sizes_of.items():
            sets += draw_sets(cluster_id, of_cluster, kind, sizes, config.seed)
    table = rows_to_arrow(
        "cluster.image_sets",
        [
            {
                "set_id": each.set_id,
                "bucket": bucket_key(each.set_id),
                "kind": each.kind,
                "cluster_id": each.cluster_id,
                "position": position,
                "entry_id": member.entry_id,
                "image_id": member.image_id,
            }
            for each in sets
            for position, member in enumerate(each.members, start=1)
        ],
    )
    warehouse.replace("cluster.image_sets", table)
    return report(
        table,
        {f"{kind} sets": sum(each.kind == kind for each in sets) for kind in sizes_of},
        images=image_store,
    )


def require_whole_sets(warehouse: Warehouse) -> None:
    """Raise dg.Failure if sets lack entries, since a shard was ingested anew after they were drawn."""
    broken = warehouse.read("cluster/broken_sets").num_rows
    if broken:
        raise dg.Failure(
            f"{broken} image sets have entries whose pages have changed or gone since they were "
            "drawn: materialize the job cluster, then run this again.",
            allow_retries=False,
        )
