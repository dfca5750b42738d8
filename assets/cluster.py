"""Clustering: entries to embeddings, to groups and clusters, to image sets.

What belongs here: what is embedded, which pass follows which, which sets are wanted. The algorithms
are `methods/clustering.py` and `methods/image_sets.py`.
"""

from itertools import groupby

import dagster as dg
from pydantic import Field

from assets.ingest import duplicates, entries
from assets.partitions import bucket_key
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from methods.clustering import place_entries
from methods.image_sets import Kind, Member, draw_sets
from resources.embedder import Embedder
from resources.image_store import ImageStore
from resources.warehouse import Warehouse


class ClusterConfig(dg.Config):
    """MMDU joins entries at a cosine of at least 0.75 (3.1)."""

    tau: float = Field(0.75, ge=-1, le=1)


class ImageSetsConfig(dg.Config):
    """Sizes are drawn from these lists; MMDU: 2-20 images for the benchmark, 2-5 to instruct."""

    benchmark_sizes: list[int] = [3, 4, 5, 6, 8, 10, 20]
    instruction_sizes: list[int] = [2, 3, 4, 5]
    seed: int = 0


@table_asset(
    "cluster.embeddings", kinds={"pytorch"}, deps=[entries], automation_condition=WHEN_READY
)
def embeddings(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
) -> dg.MaterializeResult:
    """Each entry's categories and caption as unit vectors; a text is embedded only once."""
    texts = [
        {"entry_id": entry["entry_id"], "space": space, "text": text}
        for entry in warehouse.read("cluster/entries").to_pylist()
        for space, text in (
            # A page without categories is grouped by what it is called.
            ("category", "; ".join(entry["categories"]) or entry["title"]),
            ("caption", entry["caption"]),
        )
    ]
    known = warehouse.read("cluster/known_vectors", {"model": embedder.name}).to_pylist()
    vector_of = {row["text"]: row["vector"] for row in known}
    new = sorted({row["text"] for row in texts} - vector_of.keys())
    if new:
        context.log.info(f"embeddings: {len(new)} new texts by {embedder.name}")
        vector_of |= dict(zip(new, embedder.encode(new).tolist(), strict=True))
    rows = [{**row, "model": embedder.name, "vector": vector_of[row["text"]]} for row in texts]
    table = rows_to_arrow("cluster.embeddings", rows)
    warehouse.replace("cluster.embeddings", table)
    return report(table, {"model": embedder.name, "new texts": len(new)})


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


ASSETS = [embeddings, clusters, image_sets]
