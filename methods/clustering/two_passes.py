"""Two-pass clustering (MMDU, 2.2, 3.1, B.1, Figure 7): groups by category, in them clusters by caption.

Both passes follow one procedure: a new entry joins the first community whose centre is within tau, in
the order in which communities were found, and the entries that remain are searched for new communities.
Without a prior clustering this is plain clustering, which chooses communities largest first. So an
entry gets the same community whether it is there from the start or is added later.

A community has entries of one language. Entries in a language that the embedding model does not read
have no community, as their vectors say little about the meaning of the texts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import Rows, first_centre, have_neighbours, paired_cosines

CommunityDetector = Callable[[Vectors], list[Community]]
"""Finds disjoint communities, each of two or more vectors."""

Labels = NDArray[np.intp]
"""Indexes of communities or rows, -1 for none."""

HOW = ("seed", "assigned", "no neighbour", "absorbed", "noise", "unreadable language")
SEED, ASSIGNED, NO_NEIGHBOUR, ABSORBED, NOISE, UNREADABLE = range(len(HOW))
"""Why an entry is in its community or in none, as of the last run that examined it.

- seed: it was a member when its community was created;
- assigned: it was added later and joined the first community with a centre within tau;
- no neighbour: it is in none, and no other entry (of its group) is within tau of it;
- absorbed: it is in none, and all entries within tau of it are in communities;
- noise: it is in none, and others within tau of it are in none either: they are too few or too sparse;
- unreadable language: it is in none, as the embedding model does not read its language.
"""


class Detectors(NamedTuple):
    """The community detector of each pass."""

    groups: CommunityDetector
    clusters: CommunityDetector


@dataclass(frozen=True)
class Entries:
    """The n entries: ids, unit vectors of categories and of captions, shape (n, d), and languages,
    shape (n,), such as `en`; empty for a language that the embedding model does not read."""

    ids: Sequence[str]
    categories: Vectors
    captions: Vectors
    languages: NDArray[np.str_]


@dataclass(frozen=True)
class Membership:
    """The community of each of n entries in one pass (-1 for none), and the reason, an index into
    `HOW`.
    """

    community: Labels
    how: NDArray[np.int8]

    @classmethod
    def empty(cls, n: int) -> "Membership":
        """The membership of n entries without a community."""
        return cls(np.full(n, -1, dtype=np.intp), np.full(n, -1, dtype=np.int8))


@dataclass(frozen=True)
class PriorCommunities:
    """m communities of one pass in the order in which they were found.

    Fields are ids, sizes, groups (of clusters), centres in both spaces, and languages.
    """

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    categories: Vectors
    captions: Vectors
    languages: NDArray[np.str_]

    @classmethod
    def empty(cls, dimensions: int) -> "PriorCommunities":
        """An empty set of communities."""
        vectors = np.empty((0, dimensions), dtype=np.float32)
        none = np.empty(0, dtype=np.intp)
        return cls([], none, none, vectors, vectors, np.empty(0, dtype=np.str_))


@dataclass(frozen=True)
class PriorClustering:
    """The prior clustering: which entries it knew, their membership, its communities.

    An entry that it did not know may be a new version of a known entry (same Wikipedia page and image)
    that is gone. It then has the membership of the former version, and `category_changed` and
    `caption_changed` say which of its texts changed.
    """

    is_known: NDArray[np.bool_]
    groups: PriorCommunities
    clusters: PriorCommunities
    group: Membership
    cluster: Membership
    category_changed: NDArray[np.bool_]
    caption_changed: NDArray[np.bool_]

    @classmethod
    def empty(cls, entries: Entries) -> "PriorClustering":
        """No prior clustering: all entries are new."""
        n, none = len(entries.ids), PriorCommunities.empty(entries.categories.shape[-1])
        no = np.zeros(n, dtype=bool)
        return cls(no, none, none, Membership.empty(n), Membership.empty(n), no, no)


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
    """Run both passes over the entries without a community in `prior`; all others stay in theirs.

    A new version of an entry stays if it is within `tau` of the centre; an entry that leaves its group
    also leaves its cluster. An entry that `prior` does not know joins the first community in its
    language whose centre is at cosine >= `tau`: a group by category, then a cluster of this group by
    caption. The remaining entries, old and new, are searched for new communities; the search is skipped
    if none of them is new. The result does not depend on the order of the entries.

    Args:
        entries: All entries with their vectors.
        prior: The clustering before.
        detectors: Find groups by category, and clusters by caption.
        tau: The least cosine to a centre.
    """
    languages = entries.languages
    # An entry whose language can only be read now counts as new.
    new = ~prior.is_known | (prior.group.how == UNREADABLE)
    in_order = np.argsort(np.asarray(entries.ids, dtype=str), kind="stable")
    group, cluster = _still_within(entries, prior, tau)
    groups = _Pass(entries.categories, detectors.groups, tau, group, len(prior.groups.ids))
    for language, in_language in rows_by_language(in_order, languages).items():
        numbers = np.flatnonzero(prior.groups.languages == language)
        groups.run(in_language, new, numbers, prior.groups.categories[numbers])
    groups.how[languages == ""] = UNREADABLE

    clusters = _Pass(entries.captions, detectors.clusters, tau, cluster, len(prior.clusters.ids))
    arrived = new | (prior.group.community != groups.community)
    affected = arrived & (groups.community >= 0) & (clusters.community < 0)
    order = np.arange(len(prior.clusters.ids))
    members = rows_by_label(in_order, groups.community)
    clusters_of = rows_by_label(order, prior.clusters.parents)
    for number in np.unique(groups.community[affected]):
        inside = clusters_of.get(number, order[:0])
        clusters.run(members[number], arrived, inside, prior.clusters.captions[inside])
    return TwoPassResult(
        groups.membership(), clusters.membership(), groups.new_centres(), clusters.new_centres()
    )


def _still_within(
    entries: Entries, prior: PriorClustering, tau: float
) -> tuple[Membership, Membership]:
    """The memberships in groups and clusters, except those that a changed text has ended."""
    of_group, of_cluster = prior.group.community, prior.cluster.community
    beyond_group = _is_beyond(
        prior.category_changed, entries.categories, of_group, prior.groups.categories, tau
    )
    rows = np.flatnonzero(of_group >= 0)
    beyond_group[rows] |= prior.groups.languages[of_group[rows]] != entries.languages[rows]
    moved = beyond_group | _is_beyond(
        prior.caption_changed, entries.captions, of_cluster, prior.clusters.captions, tau
    )
    # The reason why a former version had no community does not apply to a changed text.
    unplaced = prior.category_changed & (of_group < 0)
    apart = (prior.category_changed | prior.caption_changed) & (of_cluster < 0)
    return _without(prior.group, beyond_group | unplaced), _without(prior.cluster, moved | apart)


def _is_beyond(
    changed: NDArray[np.bool_], vectors: Vectors, community: Labels, centres: Vectors, tau: float
) -> NDArray[np.bool_]:
    """Select the changed vectors that are in a community, but not within tau of its centre."""
    beyond = changed & (community >= 0)
    rows = np.flatnonzero(beyond)
    beyond[rows] = paired_cosines(vectors, rows, centres, community[rows]) < tau
    return beyond


def _without(membership: Membership, rows: NDArray[np.bool_]) -> Membership:
    return Membership(
        np.where(rows, -1, membership.community), np.where(rows, np.int8(-1), membership.how)
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

        `numbers` are the communities of the `centres`, in the order in which they were found.
        """
        has_community = self.community[scope] >= 0
        free, members = scope[~has_community], scope[has_community]
        arrived = free[new[free]]
        if not len(arrived):
            return
        if len(numbers):
            index = first_centre(self.vectors, arrived, centres, self.tau)
            near = index >= 0
            self.community[arrived[near]] = numbers[index[near]]
            self.how[arrived[near]] = ASSIGNED
        rest = free[self.community[free] < 0]
        if new[rest].any():
            self._detect(rest)
        rest, joined = rest[self.community[rest] < 0], arrived[self.community[arrived] >= 0]
        noise, near = have_neighbours(self.vectors, rest, joined, self.tau)
        # An earlier entry was compared with the earlier members by the run that added it.
        near |= np.isin(self.how[rest], (ABSORBED, NOISE))
        near[new[rest]] |= have_neighbours(self.vectors, rest[new[rest]], members, self.tau)[1]
        self.how[rest] = np.select([noise, near], [NOISE, ABSORBED], NO_NEIGHBOUR)

    def _detect(self, rest: Rows) -> None:
        for community in self.detector(self.vectors[rest]):
            members = rest[list(community.members)]
            self.community[members] = self.n_prior + len(self.centres)
            self.how[members] = SEED
            self.centres.append(int(rest[community.centre]))

    def membership(self) -> Membership:
        return Membership(self.community, self.how)

    def new_centres(self) -> Rows:
        return np.array(self.centres, dtype=np.intp)


def rows_by_language(rows: Rows, languages: NDArray[np.str_]) -> dict[str, Rows]:
    """The rows of each language in the given order; rows without a language are left out."""
    names, labels = np.unique(languages, return_inverse=True)
    labels[languages == ""] = -1
    return {str(names[label]): part for label, part in rows_by_label(rows, labels).items()}


def rows_by_label(rows: Rows, labels: Labels) -> dict[int, Rows]:
    """Collect the rows of each label.

    Args:
        rows: Row numbers, in the order to keep.
        labels: The label of every row number; -1 for none.

    Returns:
        The rows of each label; rows with label -1 are left out.
    """
    labelled = rows[labels[rows] >= 0]
    ordered = labelled[np.argsort(labels[labelled], kind="stable")]
    unique_labels, starts = np.unique(labels[ordered], return_index=True)
    # Without any label np.split still returns one, empty, part.
    return dict(zip(unique_labels.tolist(), np.split(ordered, starts[1:]), strict=False))
