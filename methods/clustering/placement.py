"""The two passes of MMDU (2.2, 3.1, B.1, Figure 7): groups by category, then by caption inside a group.

Both passes are one procedure: whoever is new joins the nearest centre within tau, and those who are
left found communities among themselves. From nothing, that is clustering. What belongs here: where each
entry sits, and why. How communities are found is a finder's (`communities.py`, `density.py`), how they
are named `extension.py`'s.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import Vectors
from methods.clustering.reach import Rows, near_others, nearest

Finder = Callable[[Vectors], list[Community]]
"""Finds disjoint communities among vectors, none of fewer than two."""

Labels = NDArray[np.intp]
"""Numbers of communities or rows, -1 for none."""

WORDS = ("founded", "assigned", "no neighbour", "overtaken", "sparse")
FOUNDED, ASSIGNED, NO_NEIGHBOUR, OVERTAKEN, SPARSE = range(len(WORDS))
"""How an entry came to where it sits, as it was when the entry was last looked at.

- founded: it was there when its community was founded;
- assigned: it came later and joined the nearest centre within tau;
- no neighbour: it is in none, and nobody else (in its group) is within tau of it;
- overtaken: it is in none, and all who are within tau of it joined others;
- sparse: it is in none, though others within tau are in none either: too few, or not dense enough.
"""


class Finders(NamedTuple):
    """How communities are found in each pass."""

    groups: Finder
    clusters: Finder


@dataclass(frozen=True)
class Entries:
    """Distinct ids of n entries and their unit vectors in two spaces, each of shape (n, d)."""

    ids: Sequence[str]
    categories: Vectors
    captions: Vectors


@dataclass(frozen=True)
class Level:
    """Where n entries sit in one pass: numbers of communities, and numbers of `WORDS` (-1: no word)."""

    community: Labels
    how: NDArray[np.int8]

    @classmethod
    def empty(cls, n: int) -> "Level":
        """Nobody is anywhere."""
        return cls(np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.int8))


@dataclass(frozen=True)
class Centres:
    """m communities of one pass: their ids, sizes, groups (of clusters) and centres in both spaces."""

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    categories: Vectors
    captions: Vectors

    @classmethod
    def none(cls, dimensions: int) -> "Centres":
        """No community."""
        vectors = np.empty((0, dimensions), dtype=np.float32)
        return cls([], np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), vectors, vectors)


@dataclass(frozen=True)
class Before:
    """What there was: which of the entries were placed already, and where; which communities lived."""

    known: NDArray[np.bool_]
    groups: Centres
    clusters: Centres
    group: Level
    cluster: Level

    @classmethod
    def nothing(cls, entries: Entries) -> "Before":
        """All entries are new."""
        n, centres = len(entries.ids), Centres.none(entries.categories.shape[-1])
        return cls(np.zeros(n, dtype=bool), centres, centres, Level.empty(n), Level.empty(n))


@dataclass(frozen=True)
class Placement:
    """Where every entry sits after both passes, and what was founded in each.

    New communities are numbered after the old ones and stand here as the rows of their centres.
    """

    group: Level
    cluster: Level
    new_groups: Rows
    new_clusters: Rows


def place(entries: Entries, before: Before, finders: Finders, tau: float) -> Placement:
    """Both passes over the entries that have no place in `before`; nobody who has one moves.

    An entry that was not known joins the nearest centre at cosine >= `tau`: of groups by category, then
    of its group's clusters by caption; of equally near ones the larger, then the smaller id. Those left
    over, earlier ones among them, found communities among themselves; where nobody new is left over,
    nothing is looked for again. The order of the entries plays no part.
    """
    new = ~before.known
    in_order = np.argsort(np.asarray(entries.ids, dtype=str), kind="stable")
    groups = _Pass(entries.categories, finders.groups, tau, before.group, len(before.groups.ids))
    order = by_preference(before.groups.ids, before.groups.sizes)
    groups.run(in_order, new, order, before.groups.categories[order])

    clusters = _Pass(
        entries.captions, finders.clusters, tau, before.cluster, len(before.clusters.ids)
    )
    arrived = new | (before.group.community != groups.community)
    touched = arrived & (groups.community >= 0) & (clusters.community < 0)
    order = by_preference(before.clusters.ids, before.clusters.sizes)
    members = by_label(in_order, groups.community)
    centres = by_label(order, before.clusters.parents)
    for group in np.unique(groups.community[touched]):
        inside = centres.get(group, order[:0])
        clusters.run(members[group], arrived, inside, before.clusters.captions[inside])
    return Placement(groups.level(), clusters.level(), groups.founded(), clusters.founded())


class _Pass:
    """One pass while it runs: where each entry sits so far, and which communities were founded."""

    def __init__(
        self, vectors: Vectors, finder: Finder, tau: float, level: Level, n_communities: int
    ):
        self.vectors, self.finder, self.tau = vectors, finder, tau
        self.community, self.how = level.community.copy(), level.how.copy()
        self.n_before = n_communities
        self.centres: list[int] = []

    def run(
        self,
        scope: Rows,
        new: NDArray[np.bool_],
        numbers: Labels,
        centres: Vectors,
    ) -> None:
        """Give the entries of `scope` a place: new ones at a centre, or all that are left among them.

        `numbers` are the communities of the `centres`, in the order in which they are preferred.
        """
        placed = self.community[scope] >= 0
        free, stayed = scope[~placed], scope[placed]
        arrived = free[new[free]]
        if not len(arrived):
            return
        if len(numbers):
            place, cosine = nearest(self.vectors, arrived, centres)
            near = cosine >= self.tau
            self.community[arrived[near]] = numbers[place[near]]
            self.how[arrived[near]] = ASSIGNED
        left = free[self.community[free] < 0]
        if new[left].any():
            self._found(left)
        left, joined = left[self.community[left] < 0], arrived[self.community[arrived] >= 0]
        sparse, near = near_others(self.vectors, left, joined, self.tau)
        # Whom else an earlier one is near was looked at when it came.
        near |= np.isin(self.how[left], (OVERTAKEN, SPARSE))
        near[new[left]] |= near_others(self.vectors, left[new[left]], stayed, self.tau)[1]
        self.how[left] = np.select([sparse, near], [SPARSE, OVERTAKEN], NO_NEIGHBOUR)

    def _found(self, left: Rows) -> None:
        for community in self.finder(self.vectors[left]):
            members = left[list(community.members)]
            self.community[members] = self.n_before + len(self.centres)
            self.how[members] = FOUNDED
            self.centres.append(int(left[community.centre]))

    def level(self) -> Level:
        return Level(self.community, self.how)

    def founded(self) -> Rows:
        return np.array(self.centres, dtype=np.intp)


def by_preference(ids: Sequence[str], sizes: Labels) -> Labels:
    """Numbers of communities, the largest first, of equal ones the smaller id."""
    return np.lexsort((np.asarray(ids, dtype=str), -sizes))


def by_label(rows: Rows, labels: Labels) -> dict[int, Rows]:
    """The rows of each label, in the order in which they are given; of those labelled -1 none."""
    labelled = rows[labels[rows] >= 0]
    ordered = labelled[np.argsort(labels[labelled], kind="stable")]
    found, starts = np.unique(labels[ordered], return_index=True)
    # With nobody labelled there is one part, of nobody.
    return dict(zip(found.tolist(), np.split(ordered, starts[1:]), strict=False))
