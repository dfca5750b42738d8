"""Clustering of what grows: communities keep their names, whoever comes and goes.

What belongs here: extending the communities there are, clustering anew with names carried over, and
what a community is called. Where an entry goes says `placement.py`, what became of it `difference.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from methods.clustering.difference import Difference, compare
from methods.clustering.neighbours import Vectors
from methods.clustering.placement import (
    Before,
    Centres,
    Entries,
    Finders,
    Labels,
    Level,
    Placement,
    place,
)
from methods.clustering.reach import Rows
from methods.ids import content_id

Kind = Literal["group", "cluster"]


@dataclass(frozen=True)
class Communities:
    """The k communities of one kind, where each entry sits among them, and how they came about."""

    ids: Sequence[str]
    sizes: Labels
    parents: Labels
    """Numbers of the groups that clusters lie in; -1 for groups."""
    continues: Labels
    """Numbers of the communities before that these are; -1 for new ones."""
    centres: Labels
    """Rows of the entries at their centres; -1 where the centre is what it was before."""
    categories: Vectors
    captions: Vectors
    """The centres' vectors, shape (k, d)."""
    level: Level
    difference: Difference


@dataclass(frozen=True)
class Clustering:
    """Groups and, inside them, clusters."""

    groups: Communities
    clusters: Communities


class _Step(NamedTuple):
    """One pass: the communities before, where entries sat and sit, the rows at new ones' centres."""

    kind: Kind
    old: Centres
    was: Level
    now: Level
    founded: Rows


def extend(entries: Entries, before: Before, finders: Finders, tau: float) -> Clustering:
    """Give a place to entries that have none; the others stay, and so do all names and centres.

    A community is gone with its last entry. The differences tell of new and gone ones alone: all others
    are kept. With nothing before, this is clustering; doing it twice is doing it once.
    """
    return _clustering(entries, before, place(entries, before, finders, tau), _grown)


def recluster(entries: Entries, before: Before, finders: Finders, tau: float) -> Clustering:
    """Place all entries anew; a community that is kept (see `compare`) keeps its name.

    Its centre may be another one than it was. Doing it twice is doing it once.
    """
    placement = place(entries, Before.nothing(entries), finders, tau)
    return _clustering(entries, before, placement, _made_anew)


def _clustering(
    entries: Entries,
    before: Before,
    placement: Placement,
    named: Callable[[Entries, Before, _Step, Communities | None], Communities],
) -> Clustering:
    groups = _Step("group", before.groups, before.group, placement.group, placement.new_groups)
    clusters = _Step(
        "cluster", before.clusters, before.cluster, placement.cluster, placement.new_clusters
    )
    made = named(entries, before, groups, None)
    return Clustering(made, named(entries, before, clusters, made))


def _grown(
    entries: Entries, before: Before, step: _Step, inside: Communities | None
) -> Communities:
    """Those of before that still have entries, and then the new ones."""
    n_old, n_new = len(step.old.ids), len(step.founded)
    continues = np.concatenate([np.arange(n_old), np.full(n_new, -1)])
    centres = np.concatenate([np.full(n_old, -1), step.founded])
    alive = np.unique(step.now.community[step.now.community >= 0])
    # One more, for -1 to stay -1.
    number = np.full(n_old + n_new + 1, -1)
    number[alive] = np.arange(len(alive))
    step = step._replace(now=Level(number[step.now.community], step.now.how))
    difference = _difference(before, step, len(alive)).without_kept()
    return _communities(entries, step, continues[alive], centres[alive], difference, inside)


def _made_anew(
    entries: Entries, before: Before, step: _Step, inside: Communities | None
) -> Communities:
    difference = _difference(before, step, len(step.founded))
    continues = difference.successors(len(step.founded))
    return _communities(entries, step, continues, step.founded, difference, inside)


def _difference(before: Before, step: _Step, n_new: int) -> Difference:
    there = before.known | (step.was.community >= 0)
    return compare(step.was.community, step.now.community, there, len(step.old.ids), n_new)


def _communities(
    entries: Entries,
    step: _Step,
    continues: Labels,
    centres: Labels,
    difference: Difference,
    inside: Communities | None,
) -> Communities:
    """Communities with their sizes, groups and names."""
    placed = step.now.community >= 0
    community = step.now.community[placed]
    parents = np.full(len(continues), -1)
    if inside is not None:
        # All entries of a cluster are in one group.
        parents[community] = inside.level.community[placed]
    ids = [step.old.ids[number] if number >= 0 else "" for number in continues]
    taken = {*step.old.ids}
    for number in np.flatnonzero(continues < 0):
        parent = inside.ids[parents[number]] if inside is not None else None
        ids[number] = _new_name(step.kind, parent, entries.ids[centres[number]], taken)
        taken.add(ids[number])
    return Communities(
        ids,
        np.bincount(community, minlength=len(continues)),
        parents,
        continues,
        centres,
        _at_centres(entries.categories, step.old.categories, centres, continues),
        _at_centres(entries.captions, step.old.captions, centres, continues),
        step.now,
        difference,
    )


def _at_centres(new: Vectors, old: Vectors, centres: Labels, continues: Labels) -> Vectors:
    vectors = new[centres]
    vectors[centres < 0] = old[continues[centres < 0]]
    return vectors


def _new_name(kind: Kind, parent: str | None, centre: str, taken: set[str]) -> str:
    """Name of a community by what founded it: its kind, its group and the entry at its centre.

    An older community of that name, living or just gone, keeps it; the new one's is hashed on.
    """
    name = content_id(kind, parent, centre)
    while name in taken:
        name = content_id(name)
    return name
