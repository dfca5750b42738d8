"""The unused entries of one cluster, and the selection of the next image set (farthest-point sampling).

The candidates are one entry from each of the first-ranked pages, without near-duplicates. If a page (or
image group) has so many entries that some would be left over without it, the set starts with its
candidate. Otherwise it starts with the first-ranked candidate. Then it adds, one by one, the candidate
farthest from the set: its largest cosine similarity to a member of the set is the smallest.
"""

import heapq
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from methods.image_sets.spec import Cluster, Member, SamplingSpec, max_sets

MAX_CANDIDATES = 64
"""The most pages with a candidate. More candidates cost time and spread sets little farther."""
TRIES_PER_PAGE = 4
"""Entries of a page that are tried, in order of rank, until one is no near-duplicate of a candidate."""
DECIMALS = 4
"""Similarities are rounded to this precision, so that rounding errors decide nothing."""


class ClusterPool:
    """The unused entries of one cluster.

    An entry may be used `max_uses` times per kind; all first uses rank before all second uses. Within
    them the rank is a hash of seed, kind, page and image; ties are broken by the entry's id. Every
    choice depends only on the set of unused entries, so sampling can stop and continue with the same
    result. A set costs MAX_CANDIDATES similarities per member, whatever the size of the cluster.
    """

    def __init__(self, cluster: Cluster, spec: SamplingSpec, existing: Iterable[Sequence[Member]]):
        self.cluster_id = cluster.cluster_id
        self._members, self._vectors = cluster.members, cluster.vectors
        self._spec = spec
        self._existing = {_entry_ids(members) for members in existing}
        self.n_sets = len(self._existing)
        self._exhausted: set[int] = set()
        uses = dict.fromkeys((member.entry_id for member in self._members), 0)
        for entries in self._existing:
            for entry_id in entries:
                uses[entry_id] += 1
        self._pages = self._rank_by_page(uses)
        self._waiting = [(ranked[0][0], page) for page, ranked in self._pages.items()]
        heapq.heapify(self._waiting)
        self._first: list[tuple[int, str]] = []
        self._choose_candidates()

    def _rank_by_page(self, uses: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """By page, the remaining uses of its members as (rank, index of the member), in rank order."""
        ranked = sorted(
            (use, self._spec.rank(member, use), member.entry_id, index)
            for index, member in enumerate(self._members)
            for use in range(uses[member.entry_id], self._spec.max_uses)
        )
        self.key = ranked[0][:3] if ranked else (self._spec.max_uses, "", "")
        self._n_free = len(ranked)
        self._image_groups = Counter(self._members[index].image_group for *_, index in ranked)
        pages: dict[str, list[tuple[int, int]]] = {}
        for rank, (*_, index) in enumerate(ranked):
            member = self._members[index]
            # If pages may repeat, image groups take the place of pages: only near-duplicates must be
            # in different sets.
            page = member.image_group if self._spec.repeat_pages else member.page_id
            pages.setdefault(page, []).append((rank, index))
        # The largest count of a page or image group. It mostly suffices to rule out frequent ones.
        self._max_frequency = max(
            [*map(len, pages.values()), *self._image_groups.values()], default=0
        )
        return pages

    def _choose_candidates(self) -> None:
        """Complete the list of first-ranked pages, and choose a candidate from each."""
        while self._waiting and len(self._first) < MAX_CANDIDATES:
            insort(self._first, heapq.heappop(self._waiting))
        self._candidates: list[tuple[str, int, int]] = []
        groups: set[str] = set()
        for _, page in self._first:
            for position, (_, index) in enumerate(self._pages[page][:TRIES_PER_PAGE]):
                group = self._members[index].image_group
                if group not in groups:
                    groups.add(group)
                    self._candidates.append((page, position, index))
                    break

    @property
    def max_size(self) -> int:
        """Images in the largest set that the candidates can form."""
        return len(self._candidates)

    def fits(self, size: int) -> bool:
        """Whether a set of `size` images may be sampled next."""
        return size <= self.max_size and size not in self._exhausted

    def capacity(self, mean: float) -> int:
        """Estimate how many entries fit into sets of `mean` images with at most one entry of a page."""
        counts = np.array([len(ranked) for ranked in self._pages.values()], dtype=np.int64)
        return int(np.minimum(counts, max(1, max_sets(counts, mean))).sum())

    def sample(self, size: int) -> tuple[Member, ...] | None:
        """Remove and return a set of `size` images; None if it and its variants exist already.

        Variants differ in the last member. Only if entries may be used several times can all variants
        exist. Then `fits(size)` is false until a set of another size is sampled.
        """
        vectors = self._vectors[[index for _, _, index in self._candidates]]
        chosen = farthest_points(vectors, size, self._frequent(size) or [0])
        if self._exists(chosen):
            start = chosen[:-1]
            variants = [[*start, last] for last in farthest_first(vectors, start)]
            free = [variant for variant in variants if not self._exists(variant)]
            if not free:
                self._exhausted.add(size)
                return None
            chosen = free[0]
        members = self._members_at(chosen)
        self._exhausted.clear()
        self._existing.add(_entry_ids(members))
        self.n_sets += 1
        positions = {self._candidates[choice][0]: self._candidates[choice][1] for choice in chosen}
        self._first = [member for member in self._first if member[1] not in positions]
        self._n_free -= size
        self._image_groups.subtract(member.image_group for member in members)
        for page, position in positions.items():
            ranked = self._pages[page]
            del ranked[position]
            if ranked:
                heapq.heappush(self._waiting, (ranked[0][0], page))
            else:
                del self._pages[page]
        self._choose_candidates()
        return members

    def _members_at(self, chosen: Sequence[int]) -> tuple[Member, ...]:
        return tuple(self._members[self._candidates[choice][2]] for choice in chosen)

    def _exists(self, chosen: Sequence[int]) -> bool:
        return _entry_ids(self._members_at(chosen)) in self._existing

    def _frequent(self, size: int) -> list[int]:
        """Candidates of the pages and image groups that the next set must include, at most `size`.

        n unused entries make n / size sets. A page with at least n / size entries must be in every
        set; otherwise some of its entries are left over.
        """
        if self._max_frequency * size < self._n_free:
            return []
        frequencies = [
            max(len(self._pages[page]), self._image_groups[self._members[index].image_group])
            for page, _, index in self._candidates
        ]
        frequent = [i for i, n in enumerate(frequencies) if n > 1 and n * size >= self._n_free]
        return sorted(frequent, key=lambda i: -frequencies[i])[:size]


def farthest_points(
    vectors: NDArray[np.float32], size: int, first: Sequence[int] = (0,)
) -> list[int]:
    """Choose `size` rows far apart: `first`, then each time the row farthest from the chosen rows.

    This is Gonzalez's farthest-point rule. `vectors` are unit vectors, shape (n, d), n >= size. Ties go
    to the first row. If `first` is one row, the smallest angle between two chosen rows is at least half
    of the best possible.
    """
    chosen = list(first)
    nearest = (vectors @ vectors[chosen].T).max(axis=1)
    while len(chosen) < size:
        nearest[chosen] = np.inf
        chosen.append(int(np.argmin(nearest.round(DECIMALS))))
        np.maximum(nearest, vectors @ vectors[chosen[-1]], out=nearest)
    return chosen


def farthest_first(vectors: NDArray[np.float32], chosen: Sequence[int]) -> list[int]:
    """List the rows that are not chosen, the farthest from the chosen rows first."""
    nearest = (vectors @ vectors[chosen].T).max(axis=1).round(DECIMALS)
    return [int(row) for row in np.argsort(nearest, kind="stable") if row not in chosen]


def _entry_ids(members: Sequence[Member]) -> frozenset[str]:
    return frozenset(member.entry_id for member in members)
