"""Clusters to image sets, and the reckoning of which sets could not be made.

What belongs here: which sets are wanted. The algorithm is `methods/image_sets/`.
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.duplicates import duplicates
from assets.cluster.embeddings import EntryVectors, embeddings, entry_vectors
from assets.common.partitions import bucket_key
from assets.common.tables import WHEN_READY, preview, report, rows_to_arrow, table_asset
from assets.ingest import entries
from methods.image_sets import Cluster, Drawing, Kind, Member, Wish, draw_sets, size_weights
from resources.embedder import Embedder
from resources.images.store import ImageStore
from resources.warehouse import Warehouse, Write

BENCHMARK_SIZES = {
    "2": 47.3,
    "3": 22.0,
    "4": 11.0,
    "5": 6.0,
    "6": 3.5,
    "8": 2.0,
    "10": 1.8,
    "12": 3.0,
    "15": 2.0,
    "20": 1.3,
}
"""MMDU, Figure 4: 47.3 % of sets have 2 images, 46.3 % 3 to 10, 6.3 % more; Table 1: 3.8 on average."""
INSTRUCTION_SIZES = {"2": 40.0, "3": 30.0, "4": 20.0, "5": 10.0}
"""MMDU, Table 1: 3 on average, 5 at most."""


class ImageSetsConfig(dg.Config):
    """How many images how often, how many sets, and how often an entry, for each kind."""

    # A mapping or a list, which Dagster's types cannot say.
    benchmark_sizes: Any = Field(
        BENCHMARK_SIZES,
        description="Number of images (2-20) to weight, on any scale; a list is all alike.",
    )
    benchmark_sets: int | None = Field(
        None, ge=0, description="How many sets; null for as many as the entries allow."
    )
    benchmark_max_uses: int = Field(1, ge=1, description="In how many sets an entry may be.")
    instruction_sizes: Any = Field(
        INSTRUCTION_SIZES,
        description="Number of images (2-5) to weight, on any scale; a list is all alike.",
    )
    instruction_sets: int | None = Field(
        None, ge=0, description="How many sets; null for as many as the entries allow."
    )
    instruction_max_uses: int = Field(1, ge=1, description="In how many sets an entry may be.")
    repeat_pages: bool = Field(
        False, description="Whether a set may have several images of a page."
    )
    seed: int = 0
    redraw: bool = Field(
        False, description="Draw all sets anew; else those that still hold stay as they are."
    )

    def wishes(self) -> list[Wish]:
        """What is wanted of each kind. Raises SetSizeError."""
        of_kind: list[tuple[Kind, Any, int | None, int]] = [
            ("benchmark", self.benchmark_sizes, self.benchmark_sets, self.benchmark_max_uses),
            (
                "instruction",
                self.instruction_sizes,
                self.instruction_sets,
                self.instruction_max_uses,
            ),
        ]
        return [
            Wish(kind, size_weights(kind, sizes), n_sets, uses, self.repeat_pages, self.seed)
            for kind, sizes, n_sets, uses in of_kind
        ]


@table_asset(
    "cluster.image_sets",
    side_tables=["cluster.set_counts"],
    kinds={"image"},
    deps=[clusters, embeddings, entries, duplicates],
    automation_condition=WHEN_READY,
)
def image_sets(
    config: ImageSetsConfig,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Sets of related images: 2-20 for the benchmark, 2-5 for the instruction set.

    What was wanted and could not be made is in `cluster.set_counts`, with why.
    """
    wishes = config.wishes()
    of_entries = _clusters(warehouse, entry_vectors(warehouse, embedder.name))
    drawings = {
        wish.kind: draw_sets(
            of_entries, wish, [] if config.redraw else _drawn_sets(warehouse, wish.kind)
        )
        for wish in wishes
    }
    rows = [row for drawing in drawings.values() for row in _rows(drawing)]
    table = rows_to_arrow("cluster.image_sets", rows)
    counts = [
        {**vars(count), "kind": kind, "reasons": list(count.reasons.items())}
        for kind, drawing in drawings.items()
        for count in drawing.counts
    ]
    warehouse.replace_all(
        [
            Write("cluster.image_sets", table, {}),
            Write("cluster.set_counts", rows_to_arrow("cluster.set_counts", counts), {}),
        ]
    )
    details: dict[str, Any] = {}
    for wish in wishes:
        drawing = drawings[wish.kind]
        details |= {
            f"{wish.kind} sets wanted": "as many as the entries allow"
            if wish.n_sets is None
            else wish.n_sets,
            f"{wish.kind} sets": len(drawing.sets),
            f"{wish.kind} sets as before": drawing.n_kept,
            f"{wish.kind} sizes": dg.MetadataValue.md(_histogram(wish.weights, drawing)),
        }
    return report(table, details, images=image_store)


def require_whole_sets(warehouse: Warehouse) -> None:
    """Raise dg.Failure if sets lack entries, since a shard was ingested anew after they were drawn."""
    broken = warehouse.read("cluster/broken_sets").num_rows
    if broken:
        raise dg.Failure(
            f"{broken} image sets have entries whose pages have changed or gone since they were "
            "drawn: materialize the job cluster, then run this again.",
            allow_retries=False,
        )


def _clusters(warehouse: Warehouse, vectors: EntryVectors) -> list[Cluster]:
    place = {entry_id: row for row, entry_id in enumerate(vectors.entry_ids)}
    found = []
    members = warehouse.read("cluster/members").to_pylist()
    for cluster_id, group in groupby(members, key=lambda row: row.pop("cluster_id")):
        of_cluster = [Member(**row) for row in group]
        rows = [place[member.entry_id] for member in of_cluster]
        found.append(Cluster(cluster_id, of_cluster, vectors.captions[rows]))
    return found


def _drawn_sets(warehouse: Warehouse, kind: Kind) -> list[list[tuple[str, str]]]:
    """Entry and image of each place in the sets that were drawn before."""
    return [
        list(zip(row["entry_ids"], row["image_ids"], strict=True))
        for row in warehouse.read("cluster/drawn_sets", {"kind": kind}).to_pylist()
    ]


def _rows(drawing: Drawing) -> list[dict[str, Any]]:
    return [
        {
            "set_id": each.set_id,
            "bucket": bucket_key(each.set_id),
            "kind": each.kind,
            "cluster_id": each.cluster_id,
            "position": position,
            "entry_id": member.entry_id,
            "image_id": member.image_id,
        }
        for each in drawing.sets
        for position, member in enumerate(each.members, start=1)
    ]


def _histogram(weights: Mapping[int, float], drawing: Drawing) -> str:
    """A Markdown table: how often each size was wanted and made, and why not more."""
    total, n_sets = sum(weights.values()), max(1, len(drawing.sets))
    rows = [
        {
            "images": count.n_images,
            "wanted": count.wanted,
            "made": count.made,
            "wanted share": f"{weights[count.n_images] / total:.1%}",
            "made share": f"{count.made / n_sets:.1%}",
            "why not all": ", ".join(f"{reason}: {n}" for reason, n in count.reasons.items()),
        }
        for count in drawing.counts
    ]
    return preview(pa.Table.from_pylist(rows), n_rows=len(rows))
