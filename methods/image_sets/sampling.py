"""Sampling of all image sets of one kind from all clusters, and the reasons for missing sets."""

import heapq
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from methods.image_sets.pool import ClusterPool
from methods.image_sets.spec import (
    Cluster,
    Counts,
    ImageSet,
    Member,
    Packing,
    SamplingSpec,
    apportion,
    apportion_more,
    image_set,
    max_sets,
)

TOO_SMALL = "clusters too small"
ELSEWHERE = "the other split has the rest"
ALIKE = "images look alike"
PAGES = "pages repeat"
USED_UP = "entries used up"
INSTEAD = "made in place of sizes that do not fit"


@dataclass(frozen=True)
class SizeCount:
    """The number of sets of one size that were wanted and made. The counts in `reasons` sum to
    `wanted - made`.
    """

    n_images: int
    wanted: int
    made: int
    reasons: dict[str, int]


def _size_counts(
    clusters: Sequence[Cluster],
    spec: SamplingSpec,
    existing: Mapping[int, int],
    whole_sizes: Collection[int] | None,
) -> list[SizeCount]:
    """Count wanted and made sets of each size with a weight, with the reasons for missing sets.

    `spec.n_sets`, or the number of sets that were made, is apportioned to the sizes by their weights.
    `existing` has the number of sets that were made, by size.
    """
    n_sets = sum(existing.values()) if spec.n_sets is None else spec.n_sets
    wanted = apportion(spec.weights, n_sets)
    frequencies = [_frequencies(cluster, spec) for cluster in clusters]
    if whole_sizes is None:
        whole_sizes = [n_entries for n_entries, _, _ in frequencies]
    counts = []
    for size in sorted(spec.weights):
        missing = wanted[size] - existing.get(size, 0)
        reasons = {INSTEAD: missing} if missing < 0 else {}
        possible = wanted[size]
        for reason, bound in _bounds(frequencies, whole_sizes, spec, size) if missing > 0 else ():
            bound = min(bound, possible)
            reasons[reason] = min(possible - bound, missing - sum(reasons.values()))
            possible = bound
        if missing > 0:
            reasons[USED_UP] = missing - sum(reasons.values())
        counts.append(
            SizeCount(
                size,
                wanted[size],
                existing.get(size, 0),
                {reason: count for reason, count in reasons.items() if count},
            )
        )
    return counts


def _frequencies(cluster: Cluster, spec: SamplingSpec) -> tuple[int, Counts, Counts]:
    """The number of entries of a cluster, and the most uses of each image group and of each page."""
    images = Counter(member.image_group for member in cluster.members)
    pages = Counter(member.page_id for member in cluster.members)
    return (
        len(cluster.members),
        np.array(list(images.values()), dtype=np.int64) * spec.max_uses,
        np.array(list(pages.values()), dtype=np.int64) * spec.max_uses,
    )


def _bounds(
    frequencies: Sequence[tuple[int, Counts, Counts]],
    whole_sizes: Collection[int],
    spec: SamplingSpec,
    size: int,
) -> list[tuple[str, int]]:
    """Upper bounds on the number of sets of `size` images; each bound adds a rule to the previous."""
    by_images = by_pages = 0
    for n_entries, images, pages in frequencies:
        if n_entries < size:
            continue
        of_images = max_sets(images, size)
        by_images += of_images
        by_pages += of_images if spec.repeat_pages else min(of_images, max_sets(pages, size))
    return [
        (TOO_SMALL, _n_sets(whole_sizes, spec, size)),
        (ELSEWHERE, _n_sets([n_entries for n_entries, _, _ in frequencies], spec, size)),
        (ALIKE, by_images),
        (PAGES, by_pages),
    ]


def _n_sets(sizes: Collection[int], spec: SamplingSpec, size: int) -> int:
    """Upper bound on the number of sets of `size` images of clusters of these sizes."""
    return sum(
        cluster_size * spec.max_uses // size for cluster_size in sizes if cluster_size >= size
    )


PriorImage = tuple[str, str]
"""Entry id and image id of one position in a set of an earlier run."""


@dataclass(frozen=True)
class SampledSets:
    """The sets of one kind sorted by id, the number of unchanged prior sets, and counts by size."""

    sets: list[ImageSet]
    n_kept: int
    counts: list[SizeCount]


def sample_sets(
    clusters: Sequence[Cluster],
    spec: SamplingSpec,
    prior: Sequence[Sequence[PriorImage]] = (),
    whole_sizes: Collection[int] | None = None,
) -> SampledSets:
    """Sample image sets of one kind: keep the prior sets that are still valid, and add new sets.

    A prior set is valid if all its entries are still in one cluster and the spec allows it. If an entry
    is gone because its text changed, the entry that now has its image replaces it. New sets are sampled
    from unused entries, so added entries and changed texts affect no other set.

    First the number of sets of each size is fixed, so that all sets together come as near to the wanted
    shares as the clusters allow. Then each set is assigned to a cluster, the largest sets first: the
    cluster in which the fewest entries are left over; among equals the cluster with the fewest sets,
    then with the most capacity. Without prior sets the result depends only on seed and content, not on
    the order of the input.

    Args:
        clusters: The clusters of this split with their entries.
        spec: The kind, the sizes with their weights, the number of sets and the seed.
        prior: The sets of an earlier run.
        whole_sizes: The number of entries of each cluster in both splits together; None if there is
            only one split. They only explain why sets are missing.

    Returns:
        The sets, and counts by size.
    """
    prior_sets = _kept_sets(clusters, spec, prior)
    kept_of: dict[str, list[tuple[Member, ...]]] = {}
    for kept_set in prior_sets:
        kept_of.setdefault(kept_set.cluster_id, []).append(kept_set.members)
    pools = [
        ClusterPool(cluster, spec, kept_of.get(cluster.cluster_id, ())) for cluster in clusters
    ]
    pools.sort(key=lambda pool: pool.key)
    sets = list(prior_sets)
    while spec.n_sets is None or len(sets) < spec.n_sets:
        weights = {
            size: weight
            for size, weight in spec.weights.items()
            if any(pool.fits(size) for pool in pools)
        }
        if not weights:
            break
        sets += _sample_round(pools, spec, weights, sets)
    sizes = Counter(len(image_set.members) for image_set in sets)
    sets.sort(key=lambda image_set: image_set.set_id)
    prior_entries = {tuple(entry_id for entry_id, _ in images) for images in prior}
    n_kept = sum(
        tuple(member.entry_id for member in image_set.members) in prior_entries
        for image_set in prior_sets
    )
    return SampledSets(sets, n_kept, _size_counts(clusters, spec, sizes, whole_sizes))


def _kept_sets(
    clusters: Sequence[Cluster], spec: SamplingSpec, prior: Sequence[Sequence[PriorImage]]
) -> list[ImageSet]:
    """The prior sets that are still valid, with removed entries replaced; at most `spec.n_sets`."""
    home = {
        member.entry_id: (cluster, member) for cluster in clusters for member in cluster.members
    }
    with_image: dict[tuple[str, str], list[Member]] = {}
    for cluster, member in home.values():
        with_image.setdefault((cluster.cluster_id, member.image_id), []).append(member)
    uses: Counter[str] = Counter()
    valid_sets: dict[frozenset[str], ImageSet] = {}

    def has_removed(images: Sequence[PriorImage]) -> bool:
        return any(entry_id not in home for entry_id, _ in images)

    # Unchanged sets are kept before sets that need a replacement.
    for images in sorted(prior, key=lambda images: (has_removed(images), list(images))):
        member_clusters = [home[entry_id] for entry_id, _ in images if entry_id in home]
        if len({cluster.cluster_id for cluster, _ in member_clusters}) != 1:
            continue
        cluster = member_clusters[0][0]
        members = []
        for entry_id, image_id in images:
            if entry_id in home:
                members.append(home[entry_id][1])
            else:
                same_image = with_image.get((cluster.cluster_id, image_id), [])
                free = [member for member in same_image if uses[member.entry_id] < spec.max_uses]
                members += sorted(free, key=lambda member: member.entry_id)[:1]
        unused = all(uses[member.entry_id] < spec.max_uses for member in members)
        entry_ids = frozenset(member.entry_id for member in members)
        complete = len(members) == len(images) and entry_ids not in valid_sets
        if complete and unused and spec.allows(members):
            uses.update(entry_ids)
            valid_sets[entry_ids] = image_set(spec.kind, cluster.cluster_id, members)
    return _nearest_to_shares(list(valid_sets.values()), spec)


def _nearest_to_shares(image_sets: list[ImageSet], spec: SamplingSpec) -> list[ImageSet]:
    """Keep at most `spec.n_sets` of the sets, first those within the share of their size."""
    if spec.n_sets is None or len(image_sets) <= spec.n_sets:
        return image_sets
    shares = apportion(spec.weights, spec.n_sets)
    within: list[ImageSet] = []
    beyond: list[ImageSet] = []
    for kept_set in image_sets:
        shares[len(kept_set.members)] -= 1
        (beyond if shares[len(kept_set.members)] < 0 else within).append(kept_set)
    return (within + beyond)[: spec.n_sets]


def _sample_round(
    pools: Sequence[ClusterPool],
    spec: SamplingSpec,
    weights: Mapping[int, float],
    sets: Sequence[ImageSet],
) -> list[ImageSet]:
    """Sample sets of the sizes in `weights`, as many as the estimated capacity allows.

    If pages repeat, the capacity is only an estimate, so another round may find more sets. Each round
    samples at least one set, or finds a size for which all sets exist already.
    """
    packings = {least: Packing([s for s in weights if s >= least]) for least in weights}
    free = [pool.capacity(_mean(weights, pool.max_size)) for pool in pools]
    capacity = {
        size: sum(
            packing.used(entries)
            for pool, entries in zip(pools, free, strict=True)
            if pool.fits(size)
        )
        for size, packing in packings.items()
    }
    n_missing = None if spec.n_sets is None else spec.n_sets - len(sets)
    sizes = Counter(len(image_set.members) for image_set in sets)
    wanted = apportion_more(weights, sizes, n_missing, capacity)
    left_over = packings[min(weights)].left_over

    def preference(index: int, size: int) -> tuple[int, int, int, int]:
        lost = left_over(max(0, free[index] - size)) - left_over(free[index])
        return lost, pools[index].n_sets, -free[index], index

    new = []
    for size in sorted(wanted, reverse=True):
        queue = [preference(index, size) for index, pool in enumerate(pools) if pool.fits(size)]
        heapq.heapify(queue)
        for _ in range(wanted[size]):
            members = None
            while queue and members is None:
                *_, index = heapq.heappop(queue)
                members = pools[index].sample(size)
            if members is None:
                break
            new.append(image_set(spec.kind, pools[index].cluster_id, members))
            free[index] = max(0, free[index] - size)
            if pools[index].fits(size):
                heapq.heappush(queue, preference(index, size))
    return new


def _mean(weights: Mapping[int, float], max_size: int) -> float:
    """Mean size of sets of at most `max_size` images; 1 if there is none."""
    fitting = {size: weight for size, weight in weights.items() if size <= max_size}
    total = sum(fitting.values())
    return sum(size * weight for size, weight in fitting.items()) / total if total else 1.0
