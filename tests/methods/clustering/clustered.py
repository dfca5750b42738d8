"""What the tests of placing share: entries by their angles or at random, and what was before."""

import numpy as np

from methods.clustering.communities import threshold_communities
from methods.clustering.density import density_communities
from methods.clustering.extension import Clustering, Communities
from methods.clustering.placement import WORDS, Before, Centres, Entries, Finders, Level
from tests.methods.clustering.vectors import at_angles, unit

TAU = 0.75


def by_threshold(tau: float = TAU, min_size: int = 2) -> Finders:
    def find(vectors):
        return threshold_communities(vectors, tau, min_size)

    return Finders(find, find)


def by_density(tau: float = TAU) -> Finders:
    return Finders(by_threshold(tau).groups, density_communities)


def of_angles(angles: dict[str, tuple[float, float]]) -> Entries:
    """Entries by name: the angle of the categories and that of the caption."""
    categories, captions = zip(*angles.values(), strict=True)
    return Entries(list(angles), at_angles(*categories), at_angles(*captions))


def random_entries(seed: int, n: int = 60) -> Entries:
    """Entries in some groups with some clusters each, tight or loose, some of them alike."""
    generator = np.random.default_rng(seed)

    def around(n_centres: int) -> np.ndarray:
        centres = generator.normal(size=(n_centres, 8))
        noise = generator.normal(size=(n, 8)) * generator.uniform(0.5, 0.8)
        vectors = unit(centres[generator.integers(0, n_centres, size=n)] + noise)
        vectors[generator.integers(0, n, size=n // 10)] = vectors[0]
        return vectors

    ids = [f"e{number:02}" for number in generator.permutation(n)]
    return Entries(ids, around(4), around(8))


def rows_of(entries: Entries, rows) -> Entries:
    """Some of the entries, in the order of `rows`."""
    return Entries(
        [entries.ids[row] for row in rows], entries.categories[rows], entries.captions[rows]
    )


def before(made: Clustering, then: Entries, now: Entries) -> Before:
    """What a clustering of the entries of `then` is to the entries of `now`."""
    row_of = {entry_id: row for row, entry_id in enumerate(then.ids)}
    rows = np.array([row_of.get(entry_id, -1) for entry_id in now.ids], dtype=int)

    def level(of: Communities) -> Level:
        none = Level.empty(len(rows))
        if len(then.ids):
            none.community[rows >= 0] = of.level.community[rows[rows >= 0]]
            none.how[rows >= 0] = of.level.how[rows[rows >= 0]]
        return none

    def centres(of: Communities) -> Centres:
        return Centres(of.ids, of.sizes, of.parents, of.categories, of.captions)

    groups, clusters = made.groups, made.clusters
    return Before(rows >= 0, centres(groups), centres(clusters), level(groups), level(clusters))


def names(communities: Communities, entries: Entries) -> dict[str, str | None]:
    """The community of each entry."""
    numbers = communities.level.community
    return {
        entry_id: communities.ids[number] if number >= 0 else None
        for entry_id, number in zip(entries.ids, numbers, strict=True)
    }


def words(communities: Communities, entries: Entries) -> dict[str, str | None]:
    """How each entry came to where it sits."""
    return {
        entry_id: WORDS[number] if number >= 0 else None
        for entry_id, number in zip(entries.ids, communities.level.how, strict=True)
    }


def parted(communities: Communities, entries: Entries) -> set[frozenset[str]]:
    """Who is with whom, without names."""
    members: dict[str, set[str]] = {}
    for entry_id, name in names(communities, entries).items():
        if name:
            members.setdefault(name, set()).add(entry_id)
    return {frozenset(each) for each in members.values()}
