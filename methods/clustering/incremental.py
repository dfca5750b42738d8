"""Incremental clustering: communities keep their ids while entries are added and removed.

What belongs here: extending the prior communities, reclustering with ids carried over, and the ids of
new communities. What does not: assigning entries (`two_passes.py`), comparing communities
(`changes.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from methods.clustering.changes import CommunityChanges, compare_communities, new_and_gone
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

Kind = Literal["group", "cluster"]


@dataclass(frozen=True)
class Communities:
    """The k communities of one kind, the membership of each entry, and the changes since before."""

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    """Numbers of the groups that clusters are in; -1 for groups."""
    continues: Labels
    """Numbers of the prior communities that these continue; -1 for new ones."""
    centres: Labels
    """Rows of the entries at the centres; -1 where the prior centre is kept."""
    categories: Vectors
    captions: Vectors
    """The centres' vectors, shape (k, d)."""
    membership: Membership
    changes: CommunityChanges


@dataclass(frozen=True)
class Clustering:
    """Groups and, inside them, clusters."""

    groups: Communities
    clusters: Communities


class _Pass(NamedTuple):
    """One pass: prior communities, prior and new membership, rows of the new communities' centres."""

    kind: Kind
    prior: PriorCommunities
    was: Membership
    now: Membership
    new_centres: Rows


def extend(
    entries: Entries, prior: PriorClustering, detectors: Detectors, tau: float
) -> Clustering:
    """Assign the entries that have no community; prior members, ids and centres stay unchanged.

    A community is removed with its last entry. The changes list new and gone communities only: all
    others are kept. Without a prior clustering this clusters everything. Idempotent.
    """
    return _clustering(entries, prior, run_passes(entries, prior, detectors, tau), _extended)


def recluster(
    entries: Entries, prior: PriorClustering, detectors: Detectors, tau: float
) -> Clustering:
    """Cluster all entries from scratch; a community that is kept (`compare_communities`) keeps its id.

    Its centre may change. Idempotent.
    """
    result = run_passes(entries, PriorClustering.empty(entries), detectors, tau)
    return _clustering(entries, prior, result, _reclustered)


def _clustering(
    entries: Entries,
    prior: PriorClustering,
    result: TwoPassResult,
    communities: Callable[[Entries, PriorClustering, _Pass, Communities | None], Communities],
) -> Clustering:
    by_category = _Pass("group", prior.groups, prior.group, result.group, result.new_groups)
    by_caption = _Pass(
        "cluster", prior.clusters, prior.cluster, result.cluster, result.new_clusters
    )
    groups = communities(entries, prior, by_category, None)
    return Clustering(groups, communities(entries, prior, by_caption, groups))


def _extended(
    entries: Entries, prior: PriorClustering, step: _Pass, groups: Communities | None
) -> Communities:
    """The prior communities that still have entries, then the new ones."""
    n_old, n_new = len(step.prior.ids), len(step.new_centres)
    continues = np.concatenate([np.arange(n_old), np.full(n_new, -1)])
    centres = np.concatenate([np.full(n_old, -1), step.new_centres])
    alive = np.unique(step.now.community[step.now.community >= 0])
    # One element more, so that index -1 maps to -1.
    number = np.full(n_old + n_new + 1, -1)
    number[alive] = np.arange(len(alive))
    step = step._replace(now=Membership(number[step.now.community], step.now.how))
    changes = new_and_gone(np.flatnonzero(alive >= n_old), np.setdiff1d(np.arange(n_old), alive))
    return _communities(entries, step, continues[alive], centres[alive], changes, groups)


def _reclustered(
    entries: Entries, prior: PriorClustering, step: _Pass, groups: Communities | None
) -> Communities:
    changes = _changes(prior, step, len(step.new_centres))
    continues = changes.continued(len(step.new_centres))
    return _communities(entries, step, continues, step.new_centres, changes, groups)


def _changes(prior: PriorClustering, step: _Pass, n_new: int) -> CommunityChanges:
    existed = prior.known | (step.was.community >= 0)
    return compare_communities(
        step.was.community, step.now.community, existed, len(step.prior.ids), n_new
    )


def _communities(
    entries: Entries,
    step: _Pass,
    continues: Labels,
    centres: Labels,
    changes: CommunityChanges,
    groups: Communities | None,
) -> Communities:
    """Communities with their sizes, groups and ids."""
    assigned = step.now.community >= 0
    community = step.now.community[assigned]
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
        _centre_vectors(entries.categories, step.prior.categories, centres, continues),
        _centre_vectors(entries.captions, step.prior.captions, centres, continues),
        step.now,
        changes,
    )


def _centre_vectors(new: Vectors, old: Vectors, centres: Labels, continues: Labels) -> Vectors:
    vectors = new[centres]
    vectors[centres < 0] = old[continues[centres < 0]]
    return vectors


def _new_id(kind: Kind, parent: str | None, centre: str, used: set[str]) -> str:
    """Id of a new community: a hash of its kind, its group and the entry at its centre.

    If an older community, living or just removed, has that id, the id is hashed again.
    """
    community_id = content_id(kind, parent, centre)
    while community_id in used:
        community_id = content_id(community_id)
    return community_id
