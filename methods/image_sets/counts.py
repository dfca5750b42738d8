"""How many sets of each size were wanted and made, and the reasons for the difference.

What belongs here: counting, from the clusters and the number of sets made. Each missing set is
attributed to the first rule under which the clusters could not give that many sets of its size, even
if they gave no other sets:

- `clusters too small`: not even with every entry of a cluster used `max_uses` times;
- `the other side has the rest`: not with the entries of a cluster that are on the side of the kind;
- `images look alike`: not without two near-duplicates in a set;
- `pages repeat`: not without two images of one page in a set;
- `entries used up`: possible by these rules, but the entries are in other sets or do not combine.

If more sets of a size were made than wanted, they replace sets of other sizes: `in place of other
sizes`, with a negative count, so that the reasons of a size always sum up to `wanted - made`.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from methods.image_sets.sizes import Counts, apportion, max_sets
from methods.image_sets.spec import Cluster, SamplingSpec

TOO_SMALL = "clusters too small"
ELSEWHERE = "the other side has the rest"
ALIKE = "images look alike"
PAGES = "pages repeat"
USED_UP = "entries used up"
INSTEAD = "in place of other sizes"


@dataclass(frozen=True)
class SizeCount:
    """Sets of one size: the reasons sum up to `wanted - made`."""

    n_images: int
    wanted: int
    made: int
    reasons: dict[str, int]


def size_counts(
    clusters: Sequence[Cluster],
    spec: SamplingSpec,
    made: Mapping[int, int],
    whole_sizes: Collection[int] | None = None,
) -> list[SizeCount]:
    """Counts of one kind, one row for each wanted size, rising.

    `whole_sizes` are the numbers of entries of all clusters on both sides; None if there is one side.
    `wanted` are the shares of `spec.n_sets` sets or, if that is None, of the number of sets made.
    """
    n_sets = sum(made.values()) if spec.n_sets is None else spec.n_sets
    wanted = apportion(spec.weights, n_sets)
    frequencies = [_frequencies(cluster, spec) for cluster in clusters]
    if whole_sizes is None:
        whole_sizes = [n_entries for n_entries, _, _ in frequencies]
    counts = []
    for size in sorted(spec.weights):
        missing = wanted[size] - made.get(size, 0)
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
                made.get(size, 0),
                {reason: count for reason, count in reasons.items() if count},
            )
        )
    return counts


def _frequencies(cluster: Cluster, spec: SamplingSpec) -> tuple[int, Counts, Counts]:
    """Number of entries of a cluster, and the allowed uses of each image group and of each page."""
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
    """Upper bounds on the number of sets of `size` images, each under one rule more."""
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
    """Upper bound on the number of sets of `size` images of clusters with so many entries."""
    return sum(each * spec.max_uses // size for each in sizes if each >= size)
