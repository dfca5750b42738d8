"""Asset checks of clusters and image sets."""

import dagster as dg
import pyarrow as pa

from assets.cluster.clusters import ClusterSettings
from assets.cluster.cohesion import CohesionSettings
from assets.cluster.image_sets import ImageSetsSettings
from assets.common.settings import read_used_settings
from dagster_project.check_results import N_SHOWN, asset_check, result, rows_preview
from methods.image_sets.spec import MAX_IMAGES, MIN_IMAGES
from methods.naming import listed, number_of
from resources.warehouse import Warehouse

CLUSTERS = dg.AssetKey(["cluster", "clusters"])
COHESION = dg.AssetKey(["cluster", "cohesion"])
NEAR_PAIRS = dg.AssetKey(["cluster", "near_pairs"])
IMAGE_SETS = dg.AssetKey(["cluster", "image_sets"])
TOLERANCE = 1e-4
"""Allowed difference when a similarity is computed again: rounding depends on the order of sums."""
WARN = dg.AssetCheckSeverity.WARN
SAMPLE_AGAIN = "materialize cluster/image_sets again: sets that are sound are kept."


@asset_check(
    asset=CLUSTERS,
    blocking=True,
    description="Every member is within tau of its centre, with the recorded similarity.",
)
def within_tau(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking. In density clusters, only members that were assigned later must be within tau."""
    far = warehouse.read("cluster/far_members", {"n_tolerance": TOLERANCE})
    n_far = sum(far["is_far"].to_pylist())
    n_other = far.num_rows - n_far
    wrong = (
        f"cluster.clusters has {number_of(n_far, 'member')} beyond tau of the centre, and {n_other} "
        f"with another similarity than recorded ({_members(far)}): materialize "
        "cluster/clusters again with recluster, and what follows."
    )
    return result(
        wrong if far.num_rows else None,
        {"beyond tau": n_far, "not as near as recorded": n_other, "farthest": rows_preview(far)},
    )


@asset_check(
    asset=CLUSTERS,
    description="The share of entries in no cluster stays under the limit.",
)
def unclustered(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: tau may be too high, or the corpus too mixed."""
    limit = read_used_settings(
        context.instance, "cluster.clusters", ClusterSettings
    ).max_unclustered_share
    (shape,) = warehouse.read("cluster/shape").to_pylist() or [{"n_entries": 0, "n_clustered": 0}]
    without = shape["n_entries"] - shape["n_clustered"]
    share = without / max(1, shape["n_entries"])
    wrong = (
        f"cluster.clusters has {without} of its {shape['n_entries']} entries in no cluster (cluster_id "
        f"is NULL), and {limit:.0%} may be: lower its tau, add pages on the same subjects, or raise "
        "its max_unclustered_share."
    )
    return result(
        None if share <= limit else wrong,
        {"in no cluster": without, "share": share, "limit": limit},
        WARN,
    )


@asset_check(
    asset=CLUSTERS,
    description="No group has more than the limit's share of all grouped entries.",
)
def giant_group(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: tau may be too low for the categories, or the categories too general."""
    limit = read_used_settings(
        context.instance, "cluster.clusters", ClusterSettings
    ).max_group_share
    largest = warehouse.read("cluster/largest_groups", {"n_rows": N_SHOWN})
    rows = largest.to_pylist()
    share = rows[0]["share"] if rows else 0.0
    too_large = [
        f"{row['group_id']} of {row['title']}, {row['share']:.0%}"
        for row in rows
        if row["share"] > limit
    ]
    wrong = (
        f"cluster.clusters has more than {limit:.0%} of the grouped entries in one group "
        f"({listed(too_large)}): raise its tau, give better categories, or raise its max_group_share."
    )
    return result(
        wrong if too_large else None,
        {"largest share": share, "limit": limit, "largest": rows_preview(largest)},
        WARN,
    )


@asset_check(
    asset=COHESION,
    description="No cluster's mean similarity to its centre is below the limit.",
)
def loose(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """A warning: the images of a loose cluster are hardly related."""
    limit = read_used_settings(
        context.instance, "cluster.cohesion", CohesionSettings
    ).min_mean_similarity
    clusters = warehouse.read("cluster/loose", {"n_similarity": limit})
    wrong = (
        f"cluster.cohesion has {number_of(clusters.num_rows, 'cluster')} with a mean similarity to the "
        f"centre below {limit:g} ({_named(clusters, 'cluster_id')}): raise tau of "
        "cluster.clusters, use threshold instead of density, or lower its min_mean_similarity."
    )
    return result(
        wrong if clusters.num_rows else None,
        {"loose clusters": clusters.num_rows, "limit": limit, "loosest": rows_preview(clusters)},
        WARN,
    )


@asset_check(
    asset=NEAR_PAIRS,
    description="No two clusters could be merged with all members within tau of one centre.",
)
def mergeable(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """A warning: image sets sampled from the merged cluster would be better."""
    near = warehouse.select(
        "cluster.near_pairs",
        *("title_a", "size_a", "title_b", "size_b", "same_group", "similarity", "union_similarity"),
        *("cluster_a", "cluster_b"),
        order="similarity DESC, cluster_a, cluster_b",
        mergeable=True,
    )
    pairs = [f"{row['cluster_a']} and {row['cluster_b']}" for row in near.to_pylist()]
    wrong = (
        f"cluster.near_pairs has {number_of(len(pairs), 'pair')} that could be one cluster "
        f"({listed(pairs)}): materialize cluster/clusters again with recluster, which may give new "
        "sets, or leave them apart."
    )
    return result(
        wrong if pairs else None, {"pairs": len(pairs), "nearest": rows_preview(near)}, WARN
    )


@asset_check(
    asset=IMAGE_SETS,
    blocking=True,
    description="No set has a page twice (unless repeat_pages is set) or two near-duplicate images.",
)
def no_repeats(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Blocking: a question that compares an image with its near-duplicate has no answer."""
    allowed = read_used_settings(
        context.instance, "cluster.image_sets", ImageSetsSettings
    ).repeat_pages
    repeats = warehouse.read("cluster/repeats_in_sets", {"n_repeat_pages": allowed})
    wrong = (
        f"cluster.image_sets has {number_of(repeats.num_rows, 'set')} with a page or a picture twice "
        f"({_named(repeats, 'set_id')}): {SAMPLE_AGAIN}"
    )
    return _none_of("sets", repeats, wrong)


@asset_check(
    asset=IMAGE_SETS,
    blocking=True,
    description="Benchmark sets have 2-20 images, instruction sets 2-5, in an order without gaps.",
)
def sizes(warehouse: dg.ResourceParam[Warehouse]) -> dg.AssetCheckResult:
    """Blocking: the sizes are those of MMDU, 2.2 and 3.2."""
    bounds = {f"n_{kind}": most for kind, most in MAX_IMAGES.items()}
    sets = warehouse.read("cluster/wrong_sizes", {"n_least": MIN_IMAGES, **bounds})
    wrong = (
        f"cluster.image_sets has {number_of(sets.num_rows, 'set')} with too few or too many images "
        f"or a gap in the order ({_named(sets, 'set_id')}): {SAMPLE_AGAIN}"
    )
    return _none_of("sets", sets, wrong)


@asset_check(
    asset=IMAGE_SETS,
    blocking=True,
    description="No entry is in more sets of a kind than allowed.",
)
def entry_use(
    context: dg.AssetCheckExecutionContext, warehouse: dg.ResourceParam[Warehouse]
) -> dg.AssetCheckResult:
    """Blocking: dialogues of sets that share entries are not independent."""
    settings = read_used_settings(context.instance, "cluster.image_sets", ImageSetsSettings)
    bounds = {
        "n_benchmark": settings.benchmark_max_uses,
        "n_instruction": settings.instruction_max_uses,
    }
    overused = warehouse.read("cluster/overused_entries", bounds)
    wrong = (
        "cluster.image_sets has entries in more sets of a kind than allowed "
        f"({_named(overused, 'entry_id')}): {SAMPLE_AGAIN}"
    )
    return _none_of("entries", overused, wrong)


CLUSTER_CHECKS = [
    *(within_tau, unclustered, giant_group, loose),
    *(mergeable, no_repeats, sizes, entry_use),
]
"""All checks of the stage except schema checks."""


def _none_of(kind: str, rows: pa.Table, wrong: str) -> dg.AssetCheckResult:
    """Make the result of a check that fails if there are rows."""
    shown = {kind: rows.num_rows, "first": rows_preview(rows)}
    return result(wrong if rows.num_rows else None, shown)


def _named(rows: pa.Table, column: str) -> str:
    return listed(rows[column].to_pylist())


def _members(rows: pa.Table) -> str:
    """List members with their computed and their recorded similarity."""
    lines = [
        f"{row['entry_id']} in {row['community_id']}: {row['similarity']:.3f}, recorded "
        f"{'none' if row['recorded'] is None else format(row['recorded'], '.3f')}"
        for row in rows.to_pylist()
    ]
    return listed(lines, 5)
