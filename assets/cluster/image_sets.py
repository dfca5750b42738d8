"""Image sets sampled from clusters, with counts and reasons of sets that could not be sampled."""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, ClassVar

import dagster as dg
import pyarrow as pa
from pydantic import Field, model_validator

from assets.cluster.clusters import clusters
from assets.cluster.duplicates import duplicates
from assets.cluster.embeddings import EntryVectors, embeddings, entry_vectors
from assets.cluster.splits import splits
from assets.common.previews import preview
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.ingest import entries
from methods.errors import UserError
from methods.image_sets.sampling import SampledSets, sample_sets
from methods.image_sets.spec import Cluster, Kind, Member, SamplingSpec, size_weights
from resources.embedding.embedder import Embedder
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

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
"""Number of images -> percentage of sets, chosen to match MMDU: 47.3 % have 2 images, 46.3 % have 3 to
10 and 6.3 % have more (Figure 4); 3.8 on average (Table 1).
"""
INSTRUCTION_SIZES = {"2": 40.0, "3": 30.0, "4": 20.0, "5": 10.0}
"""Number of images -> percentage of sets, chosen to match MMDU, Table 1: 3 on average, 5 at most."""


class ImageSetsSettings(AssetConfig):
    """Set sizes and their weights, numbers of sets, and uses of an entry, for each kind of set."""

    RUN_ONLY: ClassVar = frozenset({"redraw"})

    # A mapping or a list, which Dagster's config types cannot express.
    benchmark_sizes: Any = Field(
        BENCHMARK_SIZES,
        description="Weight of each number of images (2-20), on any scale; a list: equal weights.",
    )
    benchmark_sets: int | None = Field(
        None, ge=0, description="Number of sets; null: as many as the entries allow."
    )
    benchmark_max_uses: int = Field(1, ge=1, description="How many sets an entry may be in.")
    instruction_sizes: Any = Field(
        INSTRUCTION_SIZES,
        description="Weight of each number of images (2-5), on any scale; a list: equal weights.",
    )
    instruction_sets: int | None = Field(
        None, ge=0, description="Number of sets; null: as many as the entries allow."
    )
    instruction_max_uses: int = Field(1, ge=1, description="How many sets an entry may be in.")
    repeat_pages: bool = Field(
        False, description="Whether a set may have several images of a page."
    )
    seed: int = Field(0, description="Seed of the sampling.")
    redraw: bool = Field(
        False,
        description="Sample all sets again in this run; otherwise sets that are still valid are kept.",
    )

    @model_validator(mode="after")
    def _have_possible_sizes(self) -> "ImageSetsSettings":
        try:
            self.specs()
        except UserError as error:
            raise ValueError(str(error)) from None
        return self

    def specs(self) -> list[SamplingSpec]:
        """Return the sampling specification of each kind. Raises SetSizeError."""
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
            SamplingSpec(
                kind, size_weights(kind, sizes), n_sets, uses, self.repeat_pages, self.seed
            )
            for kind, sizes, n_sets, uses in of_kind
        ]


@table_asset(
    "cluster.image_sets",
    side_tables=["cluster.set_counts"],
    kinds={"image"},
    deps=[clusters, embeddings, entries, duplicates, splits],
)
def image_sets(
    config: ImageSetsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    embedder: dg.ResourceParam[Embedder],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """Sets of related images: 2-20 images for the benchmark, 2-5 for the instruction set, each from the
    pages of its split.

    `cluster.set_counts` has the wanted and the sampled number of sets by size, with reasons for the
    difference.
    """
    specs = config.specs()
    vectors = entry_vectors(warehouse, embedder.name)
    across = {
        row["kind"]: row["n"] for row in warehouse.read("cluster/sets_across_splits").to_pylist()
    }
    whole_sizes = [row["n_entries"] for row in warehouse.read("cluster/cluster_sizes").to_pylist()]
    sampled = {
        spec.kind: sample_sets(
            _clusters(warehouse, spec.kind, vectors),
            spec,
            [] if config.redraw else _prior_sets(warehouse, spec.kind),
            whole_sizes,
        )
        for spec in specs
    }
    rows = [row for of_kind in sampled.values() for row in _rows(of_kind)]
    counts = [
        {**vars(count), "kind": kind, "reasons": list(count.reasons.items())}
        for kind, of_kind in sampled.items()
        for count in of_kind.counts
    ]
    table = write_rows(warehouse, {"cluster.image_sets": rows, "cluster.set_counts": counts})
    details: dict[str, Any] = {}
    for spec in specs:
        of_kind = sampled[spec.kind]
        details |= {
            f"{spec.kind} sets wanted": "as many as the entries allow"
            if spec.n_sets is None
            else spec.n_sets,
            f"{spec.kind} sets": len(of_kind.sets),
            f"{spec.kind} sets as before": of_kind.n_kept,
            f"{spec.kind} sets given up, as they were in a wrong split": across.get(spec.kind, 0),
            f"{spec.kind} sizes": dg.MetadataValue.md(_histogram(spec.weights, of_kind)),
        }
    return report(table, details, images=image_store)


def require_whole_sets(warehouse: Warehouse) -> None:
    """Raise dg.Failure if entries were changed, removed or moved to another split after sampling."""
    broken = warehouse.read("cluster/broken_sets").num_rows
    if broken:
        raise dg.Failure(
            f"{broken} image sets have entries whose pages were changed or removed, or that were given "
            "another split, after sampling: "
            "run the job cluster, then run this again.",
            allow_retries=False,
        )


def _clusters(warehouse: Warehouse, kind: Kind, vectors: EntryVectors) -> list[Cluster]:
    """Read the clusters with those of their members that are in the split of the kind."""
    row_of = {entry_id: row for row, entry_id in enumerate(vectors.entry_ids)}
    of_kind = []
    members = warehouse.read("cluster/members", {"kind": kind}).to_pylist()
    for cluster_id, group in groupby(members, key=lambda row: row.pop("cluster_id")):
        of_cluster = [Member(**row) for row in group]
        rows = [row_of[member.entry_id] for member in of_cluster]
        of_kind.append(Cluster(cluster_id, of_cluster, vectors.captions[rows]))
    return of_kind


def _prior_sets(warehouse: Warehouse, kind: Kind) -> list[list[tuple[str, str]]]:
    """Read the existing sets, each as a list of (entry id, image id) in order."""
    return [
        list(zip(row["entry_ids"], row["image_ids"], strict=True))
        for row in warehouse.read("cluster/prior_sets", {"kind": kind}).to_pylist()
    ]


def _rows(sampled: SampledSets) -> list[dict[str, Any]]:
    return [
        {
            "set_id": image_set.set_id,
            "kind": image_set.kind,
            "cluster_id": image_set.cluster_id,
            "position": position,
            "entry_id": member.entry_id,
            "image_id": member.image_id,
        }
        for image_set in sampled.sets
        for position, member in enumerate(image_set.members, start=1)
    ]


def _histogram(weights: Mapping[int, float], sampled: SampledSets) -> str:
    """Make a Markdown table of wanted and sampled sets by size, with reasons for the difference."""
    total, n_sets = sum(weights.values()), max(1, len(sampled.sets))
    rows = [
        {
            "images": count.n_images,
            "wanted": count.wanted,
            "made": count.made,
            "wanted share": f"{weights[count.n_images] / total:.1%}",
            "made share": f"{count.made / n_sets:.1%}",
            "why": ", ".join(f"{abs(n)} {reason}" for reason, n in count.reasons.items()),
        }
        for count in sampled.counts
    ]
    return preview(pa.Table.from_pylist(rows), n_rows=len(rows))
