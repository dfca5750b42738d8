"""Train/test split of the corpus (`cluster.splits`), made before sampling to avoid contamination."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

import dagster as dg
from pydantic import Field

from assets.cluster.clusters import clusters
from assets.cluster.duplicates import duplicates
from assets.cluster.embeddings import NO_ENTRIES
from assets.common.drops import in_words, reasons
from assets.common.picture_copies import copies_of
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.ingest import entries
from methods.image_sets.split import (
    BRIDGES,
    IMPORTED,
    ExternalContent,
    Key,
    SplitDecision,
    SplitImage,
    SplitSpec,
    split_corpus,
)
from resources.images.store import ImageStore
from resources.warehouse import Warehouse

TABLE = "cluster.splits"
NO_BENCHMARK_SETS = (
    "There are no image sets in the benchmark split: run the job cluster first, or raise "
    "benchmark_share of cluster/splits."
)
NO_BENCHMARK_ENTRIES = (
    "There are no entries in the benchmark split: run the jobs ingest and cluster first."
)


class SplitSettings(AssetConfig):
    """Settings of the split between benchmarks and instruction sets. New images follow the same rules,
    and images with a split keep it until `redraw`.
    """

    RUN_ONLY: ClassVar = frozenset({"redraw"})

    benchmark_share: float = Field(
        0.6,
        ge=0,
        le=1,
        description="Share of the corpus that benchmarks are made of; instruction sets have the rest.",
    )
    by_cluster: bool = Field(
        False,
        description="Whether a cluster is in one split as a whole, so that no topic is in both.",
    )
    seed: int = Field(0, description="Seed of the division.")
    redraw: bool = Field(
        False,
        description="Split everything again in this run: sets in the wrong split are sampled again.",
    )

    def spec(self) -> SplitSpec:
        """Return the arguments of `methods/image_sets/split.py`."""
        return SplitSpec(self.benchmark_share, self.by_cluster, self.seed)


@table_asset(
    TABLE,
    side_tables=["cluster.entry_splits"],
    kinds={"image"},
    deps=[entries, clusters, duplicates],
)
def splits(
    context: dg.AssetExecutionContext,
    config: SplitSettings,
    warehouse: dg.ResourceParam[Warehouse],
    image_store: dg.ResourceParam[ImageStore],
) -> dg.MaterializeResult:
    """The train/test split: entries for benchmarks, and entries for instruction sets.

    No page in any of its languages, no image and no near-duplicate is in both parts, and assignments
    stay when the corpus grows.
    """
    page_images = _page_images(warehouse)
    prior = {} if config.redraw else _prior_splits(warehouse)
    tested = _tested(warehouse, image_store)
    split_of = split_corpus(page_images, config.spec(), prior, tested)
    rows = [
        {"page_id": page_id, "image_id": image_id, **split._asdict()}
        for (page_id, image_id), split in sorted(split_of.items())
    ]
    table = write_rows(warehouse, {TABLE: rows})
    details = _details(page_images, split_of, prior)
    if warning := _warning(page_images, split_of):
        context.log.warning(warning)
        details["warning"] = warning
    return report(table, details, images=image_store)


def left_out_of_benchmarks(warehouse: Warehouse) -> dict[str, Any]:
    """Count the entries that benchmarks may not use, by reason, as metadata of a run."""
    rows = warehouse.read("cluster/left_out_of_benchmarks").to_pylist()
    return {f"entries left out, {row['reason']}": row["n"] for row in rows}


def _page_images(warehouse: Warehouse) -> list[SplitImage]:
    """Read the images of all Wikipedia pages. Raises dg.Failure if there are no entries."""
    rows = warehouse.read("cluster/page_images").to_pylist()
    if not rows:
        raise dg.Failure(NO_ENTRIES, allow_retries=False)
    return [
        SplitImage(
            **{**row, "clusters": tuple(row["clusters"]), "versions": tuple(row["versions"])}
        )
        for row in rows
    ]


def _prior_splits(warehouse: Warehouse) -> dict[Key, SplitDecision]:
    rows = warehouse.select("cluster.splits", order="page_id, image_id").to_pylist()
    return {
        (row["page_id"], row["image_id"]): SplitDecision(row["split"], row["reason"])
        for row in rows
    }


def _tested(warehouse: Warehouse, image_store: ImageStore) -> ExternalContent:
    """Read the Wikipedia pages and images of current imported benchmarks, and copies of the images."""
    images = warehouse.read("release/imported_images").column("image_id").to_pylist()
    pages = warehouse.read("release/imported_pages").column("page_id").to_pylist()
    if not images:
        return ExternalContent(pages)
    entries = warehouse.read("cluster/page_images").column("image_id").to_pylist()
    return ExternalContent(pages, {*images, *copies_of(warehouse, image_store, entries, images)})


def _details(
    page_images: list[SplitImage],
    decisions: Mapping[Key, SplitDecision],
    prior: Mapping[Key, SplitDecision],
) -> dict[str, Any]:
    """Count the splits of current images; the table also has images that left the corpus."""
    current = {page_image.name: decisions[page_image.name] for page_image in page_images}
    counts = Counter(split.split for split in current.values())
    of_cluster: dict[str, set[str | None]] = {}
    for page_image in page_images:
        for cluster_id in page_image.clusters:
            of_cluster.setdefault(cluster_id, set()).add(current[page_image.name].split)
    return {
        "images of pages": len(current),
        "for benchmarks": counts["benchmark"],
        "for instruction sets": counts["instruction"],
        "left out of both": counts[None],
        "share for benchmarks": counts["benchmark"] / len(current),
        "split as before": sum(prior.get(name) == split for name, split in current.items()),
        "joined a split": sum(
            split.reason == "joined" and name not in prior for name, split in current.items()
        ),
        "splits of images that are not in the corpus": len(decisions) - len(current),
        "clusters in both splits": sum(
            {"benchmark", "instruction"} <= splits for splits in of_cluster.values()
        ),
        "clusters": len(of_cluster),
        **reasons(Counter(split.reason for split in current.values() if split.split is None)),
    }


def _warning(page_images: list[SplitImage], decisions: Mapping[Key, SplitDecision]) -> str:
    """Return a warning about images in neither split and near-duplicates in both; empty if none."""
    current = {page_image.name: decisions[page_image.name] for page_image in page_images}
    sentences = []
    if left_out := Counter(str(split.reason) for split in current.values() if split.split is None):
        why = {
            BRIDGES: "what bridges_splits is connected with both splits",
            IMPORTED: "what is in_imported_benchmark was for instruction sets before a benchmark with "
            "it was imported",
        }
        sentences.append(
            f"Neither benchmarks nor instruction sets may use {in_words(left_out)}: "
            f"{' and '.join(text for reason, text in why.items() if left_out[reason])}."
        )
    of_group: dict[str, set[str]] = {}
    for page_image in page_images:
        split = current[page_image.name].split
        if page_image.duplicate_group is not None and split is not None:
            of_group.setdefault(page_image.duplicate_group, set()).add(split)
    if both := sum(len(splits) > 1 for splits in of_group.values()):
        sentences.append(
            f"{both} groups of near-duplicates are in both splits, as later images or another limit of "
            "bits joined what was apart: redraw divides everything again."
        )
    return " ".join(sentences)
