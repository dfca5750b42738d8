"""Asset checks of clusters and image sets.

What belongs here: conditions that clusters and sets must meet (blocking), and limits that warn a
person, which are settings of the assets. Schema checks are in `checks.py`.
"""

import dagster as dg
import pyarrow as pa

from assets.cluster.clusters import ClusterSettings
from assets.cluster.cohesion import CohesionSettings
from assets.cluster.image_sets import ImageSetsSettings
from assets.common.previews import preview
from assets.common.settings import used
from methods.image_sets import MAX_IMAGES, MIN_IMAGES
from resources.warehouse import Warehouse

CLUSTERS = dg.AssetKey(["cluster", "clusters"])
COHESION = dg.AssetKey(["cluster", "cohesion"])
NEAR_PAIRS = dg.AssetKey(["cluster", "near_pairs"])
IMAGE_SETS = dg.AssetKey(["cluster", "image_sets"])
TOLERANCE = 1e-4
"""How much a similarity may differ when it is computed again in another order of additions."""
N_SHOWN = 20


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
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: tau may be too high, or the corpus too mixed."""
    limit = used(context.instance, "cluster.clusters", ClusterSettings).max_unclustered_share
    (shape,) = warehouse.read("cluster/shape").to_pylist() or [{"n_entries": 0, "n_clustered": 0}]
    without = shape["n_entries"] - shape["n_clustered"]
    share = without / max(1, shape["n_entries"])
    return dg.AssetCheckResult(
        passed=share <= limit,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"in no cluster": without, "share": share, "limit": limit},
    )


@dg.asset_check(
    asset=CLUSTERS,
    name="giant_group",
    description="No group has more than the limit's share of all grouped entries.",
)
def giant_group(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: tau may be too low for the categories, or the categories too general."""
    limit = used(context.instance, "cluster.clusters", ClusterSettings).max_group_share
    largest = warehouse.read("cluster/largest_groups", {"n_rows": N_SHOWN})
    share = max(largest["share"].to_pylist(), default=0.0)
    return dg.AssetCheckResult(
        passed=share <= limit,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"largest share": share, "limit": limit, "largest": _table(largest)},
    )


@dg.asset_check(
    asset=COHESION,
    name="loose",
    description="No cluster's mean similarity to its centre is below the limit.",
)
def loose(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: the images of a loose cluster are hardly related."""
    limit = used(context.instance, "cluster.cohesion", CohesionSettings).min_mean_similarity
    found = warehouse.read("cluster/loose", {"n_similarity": limit})
    return dg.AssetCheckResult(
        passed=not found.num_rows,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={
            "loose clusters": found.num_rows,
            "limit": limit,
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
def no_repeats(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Blocking: a question that compares an image with its near-duplicate has no answer."""
    allowed = used(context.instance, "cluster.image_sets", ImageSetsSettings).repeat_pages
    found = warehouse.read("cluster/repeats_in_sets", {"n_repeat_pages": allowed})
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
def entry_use(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Blocking: dialogues of sets that share entries are not independent."""
    settings = used(context.instance, "cluster.image_sets", ImageSetsSettings)
    bounds = {
        "n_benchmark": settings.benchmark_max_uses,
        "n_instruction": settings.instruction_max_uses,
    }
    found = warehouse.read("cluster/overused_entries", bounds)
    return dg.AssetCheckResult(
        passed=not found.num_rows, metadata={"entries": found.num_rows, "first": _table(found)}
    )


def _table(rows: pa.Table) -> dg.MarkdownMetadataValue:
    """The first rows as a Markdown table, their texts escaped."""
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN) if rows.num_rows else "none")
