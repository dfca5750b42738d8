"""Asset checks of clusters and image sets.

What belongs here: conditions that clusters and sets must meet (blocking), and limits that warn a person
(configurable). Schema checks are in `checks.py`.
"""

import dagster as dg
import pyarrow as pa
from pydantic import Field

from assets.common.tables import preview
from methods.image_sets import MAX_IMAGES, MIN_IMAGES
from resources.warehouse import Warehouse

CLUSTERS = dg.AssetKey(["cluster", "clusters"])
COHESION = dg.AssetKey(["cluster", "cohesion"])
NEAR_PAIRS = dg.AssetKey(["cluster", "near_pairs"])
IMAGE_SETS = dg.AssetKey(["cluster", "image_sets"])
TOLERANCE = 1e-4
"""How much a similarity may differ when it is computed again in another order of additions."""
N_SHOWN = 20


class UnclusteredLimit(dg.Config):
    """The largest share of entries in no cluster without a warning; such entries are in no set."""

    max_share: float = Field(0.8, ge=0, le=1)


class GiantLimit(dg.Config):
    """The largest share of all grouped entries that one group may have without a warning."""

    max_share: float = Field(0.5, ge=0, le=1)


class LooseLimit(dg.Config):
    """The lowest mean similarity to the centre that a cluster may have without a warning."""

    min_similarity: float = Field(0.7, ge=-1, le=1)


class UseLimit(dg.Config):
    """How many sets of a kind an entry may be in; must equal the config of cluster/image_sets."""

    benchmark_max_uses: int = Field(1, ge=1)
    instruction_max_uses: int = Field(1, ge=1)


class PageLimit(dg.Config):
    """Whether a set may have several images of a page; must equal the config of cluster/image_sets."""

    repeat_pages: bool = False


def cluster_checks() -> list[dg.AssetChecksDefinition]:
    """All checks of the stage except those on schemas."""
    return [
        within_tau,
        unclustered,
        giant_group,
        loose,
        mergeable,
        no_repeats,
        sizes,
        entry_use,
    ]


@dg.asset_check(
    asset=CLUSTERS,
    name="within_tau",
    blocking=True,
    description="Every member is within tau of its centre, with the recorded similarity.",
)
def within_tau(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking. In clusters by density only members that were assigned later must be within tau."""
    found = warehouse.read("cluster/far_members", {"n_tolerance": TOLERANCE})
    n_far = sum(found["is_far"].to_pylist())
    return dg.AssetCheckResult(
        passed=not found.num_rows,
        metadata={
            "beyond tau": n_far,
            "not as near as recorded": found.num_rows - n_far,
            "farthest": _table(found),
        },
    )


@dg.asset_check(
    asset=CLUSTERS,
    name="unclustered",
    description="The share of entries in no cluster stays under the limit.",
)
def unclustered(
    config: UnclusteredLimit, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: tau may be too high, or the corpus too mixed."""
    (shape,) = warehouse.read("cluster/shape").to_pylist() or [{"n_entries": 0, "n_clustered": 0}]
    without = shape["n_entries"] - shape["n_clustered"]
    share = without / max(1, shape["n_entries"])
    return dg.AssetCheckResult(
        passed=share <= config.max_share,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"in no cluster": without, "share": share, "limit": config.max_share},
    )


@dg.asset_check(
    asset=CLUSTERS,
    name="giant_group",
    description="No group has more than the limit's share of all grouped entries.",
)
def giant_group(config: GiantLimit, warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """A warning: tau may be too low for the categories, or the categories too general."""
    largest = warehouse.read("cluster/largest_groups", {"n_rows": N_SHOWN})
    share = max(largest["share"].to_pylist(), default=0.0)
    return dg.AssetCheckResult(
        passed=share <= config.max_share,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"largest share": share, "limit": config.max_share, "largest": _table(largest)},
    )


@dg.asset_check(
    asset=COHESION,
    name="loose",
    description="No cluster's mean similarity to its centre is below the limit.",
)
def loose(config: LooseLimit, warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """A warning: the images of a loose cluster are hardly related."""
    found = warehouse.read("cluster/loose", {"n_similarity": config.min_similarity})
    return dg.AssetCheckResult(
        passed=not found.num_rows,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "loose clusters": found.num_rows,
            "limit": config.min_similarity,
            "loosest": _table(found),
        },
    )


@dg.asset_check(
    asset=NEAR_PAIRS,
    name="mergeable",
    description="No two clusters could be merged with all members within tau of one centre.",
)
def mergeable(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """A warning: their sets would be better sampled from both."""
    found = warehouse.read("cluster/mergeable_pairs")
    return dg.AssetCheckResult(
        passed=not found.num_rows,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"pairs": found.num_rows, "nearest": _table(found)},
    )


@dg.asset_check(
    asset=IMAGE_SETS,
    name="no_repeats",
    blocking=True,
    description="No set has a page twice (unless repeat_pages is set) or two near-duplicate images.",
)
def no_repeats(config: PageLimit, warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: a question that compares an image with its near-duplicate has no answer."""
    found = warehouse.read("cluster/repeats_in_sets", {"n_repeat_pages": config.repeat_pages})
    return dg.AssetCheckResult(
        passed=not found.num_rows, metadata={"sets": found.num_rows, "first": _table(found)}
    )


@dg.asset_check(
    asset=IMAGE_SETS,
    name="sizes",
    blocking=True,
    description="Benchmark sets have 2-20 images, instruction sets 2-5, in an order without gaps.",
)
def sizes(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: MMDU 2.2 and 3.2."""
    bounds = {f"n_{kind}": most for kind, most in MAX_IMAGES.items()}
    found = warehouse.read("cluster/wrong_sizes", {"n_least": MIN_IMAGES, **bounds})
    return dg.AssetCheckResult(
        passed=not found.num_rows, metadata={"sets": found.num_rows, "first": _table(found)}
    )


@dg.asset_check(
    asset=IMAGE_SETS,
    name="entry_use",
    blocking=True,
    description="No entry is in more sets of a kind than allowed.",
)
def entry_use(config: UseLimit, warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: dialogues of sets that share entries are not independent."""
    bounds = {
        "n_benchmark": config.benchmark_max_uses,
        "n_instruction": config.instruction_max_uses,
    }
    found = warehouse.read("cluster/overused_entries", bounds)
    return dg.AssetCheckResult(
        passed=not found.num_rows, metadata={"entries": found.num_rows, "first": _table(found)}
    )


def _table(rows: pa.Table) -> dg.MarkdownMetadataValue:
    """The first rows as a Markdown table, their texts escaped."""
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN) if rows.num_rows else "none")
