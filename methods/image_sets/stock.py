"""One cluster's free entries, and which of them form the next set.

What belongs here: how members of a set are chosen. On offer is one entry of each of the first pages in
line, no two that look alike. A set begins with those of pages (or looks) so frequent that some of their
entries would be left over if it went without them; where there are none, with the first in line. Then
it takes, one by one, the entry farthest from all it has: the one whose largest similarity to them is
smallest.
"""

import heapq
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from methods.image_sets.sizes import Counts, most_sets
from methods.image_sets.wishes import Cluster, Member, Wish

PAGES_ON_OFFER = 64
"""Pages among which a set chooses: all of a small cluster; more cost more and spread little farther."""
TRIED_OF_A_PAGE = 4
"""A page whose image is on offer already, by another page, offers its next; no more than these."""
DECIMALS = 4
"""Similarities are compared to this precision, so that a machine's rounding decides nothing."""


class Stock:
    """What is free in one cluster.

    An entry may be used `max_uses` times a kind; its first use stands in line before any second. The
    line follows from seed, kind, page and image, ties from the entry's id. All that is chosen follows
    from what is free, not from how it came to be so: stopped and begun anew, drawing goes on the same.
    Cost of a set: PAGES_ON_OFFER similarities a member, whatever the cluster's size.
    """

    def __init__(self, cluster: Cluster, wish: Wish, drawn: Iterable[Sequence[Member]]):
        self.cluster_id = cluster.cluster_id
        self._members, self._vectors = cluster.members, cluster.vectors
        self._wish = wish
        self._drawn = {_content(members) for members in drawn}
        self.n_sets = len(self._drawn)
        self._refused: set[int] = set()
        uses = dict.fromkeys((member.entry_id for member in self._members), 0)
        for entries in self._drawn:
            for entry_id in entries:
                uses[entry_id] += 1
        self._pages = self._line(uses)
        self._waiting = [(line[0][0], page) for page, line in self._pages.items()]
        heapq.heapify(self._waiting)
        self._first: list[tuple[int, str]] = []
        self._fill()

    def _line(self, uses: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """Page -> free uses of its members as (place in line, index of the member), in line."""
        ranked = sorted(
            (use, self._wish.rank(member, use), member.entry_id, index)
            for index, member in enumerate(self._members)
            for use in range(uses[member.entry_id], self._wish.max_uses)
        )
        self.key = ranked[0][:3] if ranked else (self._wish.max_uses, "", "")
        self._n_free = len(ranked)
        self._looks = Counter(self._members[index].appearance for *_, index in ranked)
        pages: dict[str, list[tuple[int, int]]] = {}
        for place, (*_, index) in enumerate(ranked):
            member = self._members[index]
            # Where a page may repeat, only looks keep entries apart.
            page = member.appearance if self._wish.repeat_pages else member.page_id
            pages.setdefault(page, []).append((place, index))
        # No page and no look ever has more; mostly this alone shows that none is crowded.
        self._most = max([*map(len, pages.values()), *self._looks.values()], default=0)
        return pages

    def _fill(self) -> None:
        """Bring the first pages in line forward, and offer an entry of each."""
        while self._waiting and len(self._first) < PAGES_ON_OFFER:
            insort(self._first, heapq.heappop(self._waiting))
        self._offered: list[tuple[str, int, int]] = []
        seen: set[str] = set()
        for _, page in self._first:
            for position, (_, index) in enumerate(self._pages[page][:TRIED_OF_A_PAGE]):
                look = self._members[index].appearance
                if look not in seen:
                    seen.add(look)
                    self._offered.append((page, position, index))
                    break

    @property
    def largest(self) -> int:
        """Images in the largest set that could be drawn next."""
        return len(self._offered)

    def fits(self, size: int) -> bool:
        """Whether a set of `size` images may be drawn next."""
        return size <= self.largest and size not in self._refused

    def counts(self) -> Counts:
        """Free uses of each page."""
        return np.array([len(line) for line in self._pages.values()], dtype=np.int64)

    def room(self, mean: float) -> int:
        """About how many entries sets of `mean` images can use up, each with one of a page."""
        counts = self.counts()
        return int(np.minimum(counts, max(1, most_sets(counts, mean))).sum())

    def draw(self, size: int) -> tuple[Member, ...] | None:
        """Take a set of `size` images; None when it and all that differ in the last are sets already.

        That can only be where an entry may be used more than once; this size then fits no more until
        a set of another size is drawn.
        """
        vectors = self._vectors[[index for _, _, index in self._offered]]
        chosen = spread(vectors, size, self._crowded(size) or [0])
        if self._is_drawn(chosen):
            begun = chosen[:-1]
            others = [[*begun, last] for last in farthest_first(vectors, begun)]
            free = [other for other in others if not self._is_drawn(other)]
            if not free:
                self._refused.add(size)
                return None
            chosen = free[0]
        members = self._chosen(chosen)
        self._refused.clear()
        self._drawn.add(_content(members))
        self.n_sets += 1
        taken = {self._offered[choice][0]: self._offered[choice][1] for choice in chosen}
        self._first = [each for each in self._first if each[1] not in taken]
        self._n_free -= size
        self._looks.subtract(member.appearance for member in members)
        for page, position in taken.items():
            line = self._pages[page]
            del line[position]
            if line:
                heapq.heappush(self._waiting, (line[0][0], page))
            else:
                del self._pages[page]
        self._fill()
        return members

    def _chosen(self, chosen: Sequence[int]) -> tuple[Member, ...]:
        return tuple(self._members[self._offered[choice][2]] for choice in chosen)

    def _is_drawn(self, chosen: Sequence[int]) -> bool:
        return _content(self._chosen(chosen)) in self._drawn

    def _crowded(self, size: int) -> list[int]:
        """What is on offer of pages and looks that every set of `size` must take from, at most `size`.

        n entries make n / size sets, so of a page with as many or more some are left over where a set
        goes without it.
        """
        if self._most * size < self._n_free:
            return []
        crowds = [
            max(len(self._pages[page]), self._looks[self._members[index].appearance])
            for page, _, index in self._offered
        ]
        crowded = [
            i for i, crowd in enumerate(crowds) if crowd > 1 and crowd * size >= self._n_free
        ]
        return sorted(crowded, key=lambda i: -crowds[i])[:size]


def spread(vectors: NDArray[np.float32], size: int, first: Sequence[int] = (0,)) -> list[int]:
    """Indices of `size` rows that lie far apart: the `first`, then each farthest from those before.

    `vectors` are unit vectors, shape (n, d), n >= size. Ties go to the row that comes first. This is
    Gonzalez's farthest-point rule: with one row to begin with, no `size` rows have a smallest angle
    more than twice as wide.
    """
    chosen = list(first)
    nearest = (vectors @ vectors[chosen].T).max(axis=1)
    while len(chosen) < size:
        nearest[chosen] = np.inf
        chosen.append(int(np.argmin(nearest.round(DECIMALS))))
        np.maximum(nearest, vectors @ vectors[chosen[-1]], out=nearest)
    return chosen


def farthest_first(vectors: NDArray[np.float32], chosen: Sequence[int]) -> list[int]:
    """The other rows, from the farthest from all that are chosen to the nearest."""
    nearest = (vectors @ vectors[chosen].T).max(axis=1).round(DECIMALS)
    return [int(row) for row in np.argsort(nearest, kind="stable") if row not in chosen]


def _content(members: Sequence[Member]) -> frozenset[str]:
    return frozenset(member.entry_id for member in members)
