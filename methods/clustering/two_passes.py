"""MMDU's two passes (2.2, 3.1, B.1, Figure 7): groups by category, then clusters by caption in a group.

Both passes follow one procedure: a new entry joins the nearest centre within tau, and the entries that
remain are searched for new communities. Without a prior clustering, that is plain clustering. What
belongs here: the membership of each entry and its reason. What does not: detecting communities
(`communities.py`, `density.py`), community ids (`incremental.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import Rows, have_neighbours, nearest_centre

CommunityDetector = Callable[[Vectors], list[Community]]
"""Finds disjoint communities of two or more vectors."""

Labels = NDArray[np.intp]
"""Numbers of communities or rows, -1 for none."""

HOW = ("seed", "assigned", "no neighbour", "absorbed", "noise")
SEED, ASSIGNED, NO_NEIGHBOUR, ABSORBED, NOISE = range(len(HOW))
"""Why an entry is in its community or in none, as of the last run that examined it.

- seed: it was a member when its community was created;
- assigned: it was added later and joined the nearest centre within tau;
- no neighbour: it is in none, and no other entry (of its group) is within tau of it;
- absorbed: it is in none, and all entries within tau of it are in communities;
- noise: it is in none, and others within tau of it are in none either: they are too few or too sparse.
"""


class Detectors(NamedTuple):
    """The community detector of each pass."""

    groups: CommunityDetector
    clusters: CommunityDetector


@dataclass(frozen=True)
class Entries:
    """Distinct ids of n entries and their unit vectors in two spaces, each of shape (n, d)."""

    ids: Sequence[str]
    categories: Vectors
    captions: Vectors


@dataclass(frozen=True)
class Membership:
    """Of n entries in one pass the number of the community, and why: a number of `HOW`, -1 for none."""

    community: Labels
    how: NDArray[np.int8]

    @classmethod
    def empty(cls, n: int) -> "Membership":
        """No entry is in a community."""
        return cls(np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.int8))


@dataclass(frozen=True)
class PriorCommunities:
    """m communities of one pass: ids, sizes, groups (of clusters) and centres in both spaces."""

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    categories: Vectors
    captions: Vectors

    @classmethod
    def empty(cls, dimensions: int) -> "PriorCommunities":
        """No communities."""
        vectors = np.empty((0, dimensions), dtype=np.float32)
        return cls([], np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), vectors, vectors)


@dataclass(frozen=True)
class PriorClustering:
    """The clustering before this run: which entries it knew, their membership, its communities."""

    known: NDArray[np.bool_]
    groups: PriorCommunities
    clusters: PriorCommunities
    group: Membership
    cluster: Membership

    @classmethod
    def empty(cls, entries: Entries) -> "PriorClustering":
        """No prior clustering: all entries are new."""
        n, none = len(entries.ids), PriorCommunities.empty(entries.categories.shape[-1])
        return cls(np.zeros(n, dtype=bool), none, none, Membership.empty(n), Membership.empty(n))


@dataclass(frozen=True)
class TwoPassResult:
    """Membership of every entry after both passes, and the rows of the new communities' centres.

    New communities are numbered after the prior ones.
    """

    group: Membership
    cluster: Membership
    new_groups: Rows
    new_clusters: Rows


def run_passes(
    entries: Entries, prior: PriorClustering, detectors: Detectors, tau: float
) -> TwoPassResult:
    """Both passes over the entries without a community in `prior`; members of one stay in it.

    An entry that `prior` does not know joins the nearest centre at cosine >= `tau`: of groups by
    category, then of its group's clusters by caption; ties go to the larger community, then to the
    smaller id. The entries that remain, earlier ones included, are searched for new communities;
    without a new entry among them the search is skipped. The result does not depend on the order of
    the entries.
    """
    new = ~prior.known
    in_order = np.argsort(np.asarray(entries.ids, dtype=str), kind="stable")
    groups = _Pass(entries.categories, detectors.groups, tau, prior.group, len(prior.groups.ids))
    order = largest_first(prior.groups.ids, prior.groups.sizes)
    groups.run(in_order, new, order, prior.groups.categories[order])

    clusters = _Pass(
        entries.captions, detectors.clusters, tau, prior.cluster, len(prior.clusters.ids)
    )
    arrived = new | (prior.group.community != groups.community)
    affected = arrived & (groups.community >= 0) & (clusters.community < 0)
    order = largest_first(prior.clusters.ids, prior.clusters.sizes)
    members = rows_by_label(in_order, groups.community)
    clusters_of = rows_by_label(order, prior.clusters.parents)
    for group in np.unique(groups.community[affected]):
        inside = clusters_of.get(group, order[:0])
        clusters.run(members[group], arrived, inside, prior.clusters.captions[inside])
    return TwoPassResult(
        groups.membership(), clusters.membership(), groups.new_centres(), clusters.new_centres()
    )


class _Pass:
    """The state of one pass: memberships so far, and the centres of new communities."""

    def __init__(
        self,
        vectors: Vectors,
        detector: CommunityDetector,
        tau: float,
        prior: Membership,
        n_prior: int,
    ):
        self.vectors, self.detector, self.tau = vectors, detector, tau
        self.community, self.how = prior.community.copy(), prior.how.copy()
        self.n_prior = n_prior
        self.centres: list[int] = []

    def run(
        self,
        scope: Rows,
        new: NDArray[np.bool_],
        numbers: Labels,
        centres: Vectors,
    ) -> None:
        """Assign the entries of `scope` to `centres`, and search the rest for new communities.

        `numbers` are the communities of the `centres`, in order of preference for ties.
        """
        has_community = self.community[scope] >= 0
        free, members = scope[~has_community], scope[has_community]
        arrived = free[new[free]]
        if not len(arrived):
            return
        if len(numbers):
            index, cosine = nearest_centre(self.vectors, arrived, centres)
            near = cosine >= self.tau
            self.community[arrived[near]] = numbers[index[near]]
            self.how[arrived[near]] = ASSIGNED
        left = free[self.community[free] < 0]
        if new[left].any():
            self._detect(left)
        left, joined = left[self.community[left] < 0], arrived[self.community[arrived] >= 0]
        noise, near = have_neighbours(self.vectors, left, joined, self.tau)
        # An earlier entry was compared with the earlier members by the run that added it.
        near |= np.isin(self.how[left], (ABSORBED, NOISE))
        near[new[left]] |= have_neighbours(self.vectors, left[new[left]], members, self.tau)[1]
        self.how[left] = np.select([noise, near], [NOISE, ABSORBED], NO_NEIGHBOUR)

    def _detect(self, left: Rows) -> None:
        for community in self.detector(self.vectors[left]):
            members = left[list(community.members)]
            self.community[members] = self.n_prior + len(self.centres)
            self.how[members] = SEED
            self.centres.append(int(left[community.centre]))

    def membership(self) -> Membership:
        return Membership(self.community, self.how)

    def new_centres(self) -> Rows:
        return np.array(self.centres, dtype=np.intp)


def largest_first(ids: Sequence[str], sizes: Labels) -> Labels:
    """Numbers of communities by falling size, ties by the smaller id."""
    return np.lexsort((np.asarray(ids, dtype=str), -sizes))


def rows_by_label(rows: Rows, labels: Labels) -> dict[int, Rows]:
    """The rows of each label in the given order; rows with label -1 are left out."""
    labelled = rows[labels[rows] >= 0]
    ordered = labelled[np.argsort(labels[labelled], kind="stable")]
    found, starts = np.unique(labels[ordered], return_index=True)
    # Without any label np.split still gives one, empty, part.
    return dict(zip(found.tolist(), np.split(ordered, starts[1:]), strict=False))
