"""Incremental clustering: communities keep their ids while entries are added and removed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import Rows
from methods.clustering.two_passes import (
    Detectors,
    Entries,
    Labels,
    Membership,
    PriorClustering,
    PriorCommunities,
    TwoPassResult,
    run_passes,
)
from methods.ids import content_id

CHANGES = ("kept", "merged", "split", "new", "gone")
KEPT, MERGED, SPLIT, NEW, GONE = range(len(CHANGES))


@dataclass(frozen=True)
class CommunityChanges:
    """A prior and a new community (-1: none), the change, and the number of common entries, by row."""

    old: Labels
    new: Labels
    change: NDArray[np.int8]
    """Indexes into `CHANGES`."""
    n_common: Labels

    def continued(self, n_new: int) -> Labels:
        """The prior community that each new community continues, or -1."""
        is_kept = self.change == KEPT
        prior = np.full(n_new, -1, dtype=np.intp)
        prior[self.new[is_kept]] = self.old[is_kept]
        return prior


def compare_communities(
    old_labels: Labels,
    new_labels: Labels,
    existed: NDArray[np.bool_],
    n_old: int,
    n_new: int,
) -> CommunityChanges:
    """Compare prior communities with new ones.

    Only entries in both clusterings count. A new community is the *successor* of a prior one if it
    holds more than half of the prior one's remaining entries. The prior one is its *predecessor* if it
    held more than half of the new one's entries that existed before. So no community has two successors
    or two predecessors, and there are no ties.

    - kept: successor and predecessor; the new community is the prior one;
    - merged: successor only; most of the prior one went to one with at least as many other entries;
    - split: predecessor only; the new one has at most half of the prior one's entries;
    - new: the new one has no predecessor and is not a successor;
    - gone: the prior one has no successor and is not a predecessor.

    Every community has a row. A kept community may also be the predecessor of parts that split off, or
    the successor of others that merged into it.

    Args:
        old_labels: The prior community of each entry.
        new_labels: The new community of each entry.
        existed: Which entries the prior clustering contained.
        n_old: The number of prior communities.
        n_new: The number of new communities.

    Returns:
        The changes: related pairs by prior, then new community; then new communities; then gone ones.
    """
    both = (old_labels >= 0) & (new_labels >= 0)
    pairs, common = np.unique(
        old_labels[both] * max(n_new, 1) + new_labels[both], return_counts=True
    )
    old, new = np.divmod(pairs, max(n_new, 1))
    of_old = np.bincount(old_labels[old_labels >= 0], minlength=n_old)
    of_new = np.bincount(new_labels[(new_labels >= 0) & existed], minlength=n_new)
    successor, predecessor = 2 * common > of_old[old], 2 * common > of_new[new]
    change = np.select([successor & predecessor, successor, predecessor], [KEPT, MERGED, SPLIT], -1)
    related = change >= 0
    added = np.setdiff1d(np.arange(n_new), new[related])
    gone = np.setdiff1d(np.arange(n_old), old[related])
    alone = new_and_gone(added, gone)
    return CommunityChanges(
        np.concatenate([old[related], alone.old]),
        np.concatenate([new[related], alone.new]),
        np.concatenate([change[related].astype(np.int8), alone.change]),
        np.concatenate([common[related], alone.n_common]),
    )


def new_and_gone(added: Labels, gone: Labels) -> CommunityChanges:
    """Make the rows of added communities, then of removed ones."""
    none = np.full(len(added) + len(gone), -1)
    return CommunityChanges(
        np.concatenate([none[: len(added)], gone]),
        np.concatenate([added, none[len(added) :]]),
        np.repeat(np.array([NEW, GONE], dtype=np.int8), [len(added), len(gone)]),
        np.zeros(len(none), dtype=np.intp),
    )


Kind = Literal["group", "cluster"]


@dataclass(frozen=True)
class Communities:
    """The k communities of one kind, the membership of each entry, and the changes since before."""

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    """Index of the group that each cluster is in; -1 for groups."""
    continues: Labels
    """Index of the prior community that each community continues; -1 if it is new."""
    centres: Labels
    """Rows of the entries at the centres; -1 if the prior centre is kept."""
    categories: Vectors
    captions: Vectors
    """The centres' vectors, shape (k, d)."""
    languages: NDArray[np.str_]
    membership: Membership
    changes: CommunityChanges


@dataclass(frozen=True)
class Clustering:
    """Groups and, inside them, clusters."""

    groups: Communities
    clusters: Communities


class _CommunityUpdate(NamedTuple):
    """One pass: prior communities, prior and new membership, rows of the new communities' centres."""

    kind: Kind
    prior: PriorCommunities
    before: Membership
    after: Membership
    new_centres: Rows


def extend(
    entries: Entries, prior: PriorClustering, detectors: Detectors, tau: float
) -> Clustering:
    """Assign the entries that have no community; prior members, ids and centres stay unchanged.

    A community is removed with its last entry. Extending twice changes nothing.

    Args:
        entries: All entries with their vectors.
        prior: The prior clustering; if it is empty, all entries are clustered.
        detectors: Find new groups and clusters.
        tau: The least cosine to a centre.

    Returns:
        The clustering; its changes list new and removed communities, as all others are kept.
    """
    return _clustering(entries, prior, run_passes(entries, prior, detectors, tau), _extended)


def recluster(
    entries: Entries, prior: PriorClustering, detectors: Detectors, tau: float
) -> Clustering:
    """Cluster all entries from scratch; a community that is kept (`compare_communities`) keeps its id.

    The centre of a kept community may change. Reclustering twice changes nothing.

    Args:
        entries: All entries with their vectors.
        prior: The prior clustering, which provides ids and is the base of the changes.
        detectors: Find groups and clusters.
        tau: The least cosine to a centre.
    """
    result = run_passes(entries, PriorClustering.empty(entries), detectors, tau)
    return _clustering(entries, prior, result, _reclustered)


def _clustering(
    entries: Entries,
    prior: PriorClustering,
    result: TwoPassResult,
    communities: Callable[
        [Entries, PriorClustering, _CommunityUpdate, Communities | None], Communities
    ],
) -> Clustering:
    by_category = _CommunityUpdate(
        "group", prior.groups, prior.group, result.group, result.new_groups
    )
    by_caption = _CommunityUpdate(
        "cluster", prior.clusters, prior.cluster, result.cluster, result.new_clusters
    )
    groups = communities(entries, prior, by_category, None)
    return Clustering(groups, communities(entries, prior, by_caption, groups))


def _extended(
    entries: Entries, prior: PriorClustering, step: _CommunityUpdate, groups: Communities | None
) -> Communities:
    """The prior communities that still have entries, then the new ones."""
    n_old, n_new = len(step.prior.ids), len(step.new_centres)
    continues = np.concatenate([np.arange(n_old), np.full(n_new, -1)])
    centres = np.concatenate([np.full(n_old, -1), step.new_centres])
    alive = np.unique(step.after.community[step.after.community >= 0])
    # One element more, so that index -1 maps to -1.
    number = np.full(n_old + n_new + 1, -1)
    number[alive] = np.arange(len(alive))
    step = step._replace(after=Membership(number[step.after.community], step.after.how))
    changes = new_and_gone(np.flatnonzero(alive >= n_old), np.setdiff1d(np.arange(n_old), alive))
    return _communities(entries, step, continues[alive], centres[alive], changes, groups)


def _reclustered(
    entries: Entries, prior: PriorClustering, step: _CommunityUpdate, groups: Communities | None
) -> Communities:
    n_new = len(step.new_centres)
    existed = prior.is_known | (step.before.community >= 0)
    changes = compare_communities(
        step.before.community, step.after.community, existed, len(step.prior.ids), n_new
    )
    continues = changes.continued(n_new)
    return _communities(entries, step, continues, step.new_centres, changes, groups)


def _communities(
    entries: Entries,
    step: _CommunityUpdate,
    continues: Labels,
    centres: Labels,
    changes: CommunityChanges,
    groups: Communities | None,
) -> Communities:
    """Build communities with their sizes, groups and ids."""
    assigned = step.after.community >= 0
    community = step.after.community[assigned]
    parents = np.full(len(continues), -1)
    if groups is not None:
        # All entries of a cluster are in one group.
        parents[community] = groups.membership.community[assigned]
    ids = [step.prior.ids[number] if number >= 0 else "" for number in continues]
    used = {*step.prior.ids}
    for number in np.flatnonzero(continues < 0):
        parent = groups.ids[parents[number]] if groups is not None else None
        ids[number] = _new_id(step.kind, parent, entries.ids[centres[number]], used)
        used.add(ids[number])
    return Communities(
        ids,
        np.bincount(community, minlength=len(continues)),
        parents,
        continues,
        centres,
        _of_centres(entries.categories, step.prior.categories, centres, continues),
        _of_centres(entries.captions, step.prior.captions, centres, continues),
        _of_centres(entries.languages, step.prior.languages, centres, continues),
        step.after,
        changes,
    )


def _of_centres(
    new: NDArray[Any], old: NDArray[Any], centres: Labels, continues: Labels
) -> NDArray[Any]:
    """The values of the entries at the centres, or the prior value if the prior centre is kept."""
    # Strings of one array may be longer than those of the other.
    values = new[centres].astype(np.result_type(new, old), copy=False)
    values[centres < 0] = old[continues[centres < 0]]
    return values


def _new_id(kind: Kind, parent: str | None, centre: str, used: set[str]) -> str:
    """Compute the id of a new community: a hash of its kind, its group and the entry at its centre.

    The id is hashed again if another community has it, including communities that were just removed.
    """
    community_id = content_id(kind, parent, centre)
    while community_id in used:
        community_id = content_id(community_id)
    return community_id
