"""How many sets of each size were wanted, how many were made, and why not all.

What belongs here: the reckoning, which needs only the clusters and what was made of them. Each set
that is missing is put down to the first rule under which the clusters could not have given so many
sets of its size, though they had given no others:

- `clusters too small`: not with any entries of a cluster, each used as often as it may be;
- `images look alike`: not without two that look alike in a set;
- `pages repeat`: not without a page twice in a set;
- `entries used up`: they could have, but the entries stand in other sets or cannot all be fitted in.

A size of which more were made than wanted stands in for others: `in place of other sizes`, counted
negative, so that the reasons of a size always sum up to what is missing of it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from methods.image_sets.sizes import Counts, apportion, most_sets
from methods.image_sets.wishes import Cluster, Wish

TOO_SMALL = "clusters too small"
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
    clusters: Sequence[Cluster], wish: Wish, made: Mapping[int, int]
) -> list[SizeCount]:
    """The reckoning of a kind, a row for each wanted size, rising.

    Wanted are the shares of `wish.n_sets` sets or, where that is None, of as many as were made.
    """
    n_sets = sum(made.values()) if wish.n_sets is None else wish.n_sets
    wanted = apportion(wish.weights, n_sets)
    groups = [_groups(cluster, wish) for cluster in clusters]
    counts = []
    for size in sorted(wish.weights):
        missing = wanted[size] - made.get(size, 0)
        reasons = {INSTEAD: missing} if missing < 0 else {}
        could = wanted[size]
        for reason, bound in _bounds(groups, wish, size) if missing > 0 else ():
            bound = min(bound, could)
            reasons[reason] = min(could - bound, missing - sum(reasons.values()))
            could = bound
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


def _groups(cluster: Cluster, wish: Wish) -> tuple[int, Counts, Counts]:
    """Entries of a cluster, and the free uses of each look and of each page before any set."""
    looks = Counter(member.appearance for member in cluster.members)
    pages = Counter(member.page_id for member in cluster.members)
    return (
        len(cluster.members),
        np.array(list(looks.values()), dtype=np.int64) * wish.max_uses,
        np.array(list(pages.values()), dtype=np.int64) * wish.max_uses,
    )


def _bounds(
    groups: Sequence[tuple[int, Counts, Counts]], wish: Wish, size: int
) -> list[tuple[str, int]]:
    """The most sets of `size` images that all clusters could give under one rule more each time."""
    by_entries = by_looks = by_pages = 0
    for n_entries, looks, pages in groups:
        if n_entries < size:
            continue
        by_entries += n_entries * wish.max_uses // size
        of_looks = most_sets(looks, size)
        by_looks += of_looks
        by_pages += of_looks if wish.repeat_pages else min(of_looks, most_sets(pages, size))
    return [(TOO_SMALL, by_entries), (ALIKE, by_looks), (PAGES, by_pages)]
