"""Unit vectors, entries and prior clusterings that the tests of clustering share."""

from collections.abc import Mapping

import numpy as np

from methods.clustering.communities import density_communities, threshold_communities
from methods.clustering.incremental import Clustering, Communities
from methods.clustering.two_passes import (
    HOW,
    Detectors,
    Entries,
    Membership,
    PriorClustering,
    PriorCommunities,
)


def unit(rows) -> np.ndarray:
    vectors = np.asarray(rows, dtype=np.float64)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def at_angles(*degrees: float) -> np.ndarray:
    """Unit vectors of the plane; two of them have the cosine of the angle between."""
    return unit([[np.cos(np.radians(d)), np.sin(np.radians(d))] for d in degrees])


def random_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return unit(generator.normal(size=(generator.integers(2, 80), generator.integers(2, 7))))


def clustered_vectors(seed: int, n: int = 90, dimensions: int = 16) -> np.ndarray:
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(max(5, n // 20), dimensions))
    noise = generator.normal(size=(n, dimensions)) * generator.uniform(0.2, 1.2)
    return unit(centres[generator.integers(0, len(centres), size=n)] + noise)


def duplicated_vectors(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    vectors = random_vectors(seed)
    return vectors[generator.integers(0, len(vectors), size=2 * len(vectors))]


def antipodal_vectors(seed: int) -> np.ndarray:
    vectors = clustered_vectors(seed)
    return np.concatenate([vectors, -vectors])


def tiny_inputs(seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    return unit(generator.normal(size=(generator.integers(1, 4), generator.integers(1, 3))))


KINDS = (random_vectors, clustered_vectors, duplicated_vectors, antipodal_vectors, tiny_inputs)


def is_clear_of(vectors: np.ndarray, tau: float) -> bool:
    """Whether no pair is so near tau that the rounding of float32 decides."""
    exact = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    return bool(np.abs(exact - tau).min() > 1e-6)


TAU = 0.75


def by_threshold(tau: float = TAU, min_size: int = 2) -> Detectors:
    def find(vectors):
        return threshold_communities(vectors, tau, min_size)

    return Detectors(find, find)


def by_density(tau: float = TAU) -> Detectors:
    return Detectors(by_threshold(tau).groups, density_communities)


def of_angles(angles: dict[str, tuple[float, float]]) -> Entries:
    """Entries by name: the angle of the categories and that of the caption."""
    categories, captions = zip(*angles.values(), strict=True)
    return in_one_language(list(angles), at_angles(*categories), at_angles(*captions))


def in_one_language(ids: list[str], categories: np.ndarray, captions: np.ndarray) -> Entries:
    """Entries in English."""
    return Entries(ids, categories, captions, np.full(len(ids), "en"))


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
    return in_one_language(ids, around(4), around(8))


def rows_of(entries: Entries, rows) -> Entries:
    """Some of the entries, in the order of `rows`."""
    return Entries(
        [entries.ids[row] for row in rows],
        entries.categories[rows],
        entries.captions[rows],
        entries.languages[rows],
    )


def prior(
    made: Clustering, then: Entries, now: Entries, former: Mapping[str, str] | None = None
) -> PriorClustering:
    """The clustering `made` of the entries `then`, as the prior clustering of the entries `now`.

    `former` names the former version of new ones.
    """
    row_of = {entry_id: row for row, entry_id in enumerate(then.ids)}
    was = {entry_id: entry_id for entry_id in now.ids} | dict(former or {})
    known = np.array([entry_id in row_of for entry_id in now.ids], dtype=bool)
    rows = np.array([row_of.get(was[entry_id], -1) for entry_id in now.ids], dtype=int)

    def changed(before: np.ndarray, after: np.ndarray) -> np.ndarray:
        differs = [row >= 0 and bool((before[row] != after[n]).any()) for n, row in enumerate(rows)]
        return np.array(differs, dtype=bool)

    def membership(of: Communities) -> Membership:
        none = Membership.empty(len(rows))
        if len(then.ids):
            none.community[rows >= 0] = of.membership.community[rows[rows >= 0]]
            none.how[rows >= 0] = of.membership.how[rows[rows >= 0]]
        return none

    def communities(of: Communities) -> PriorCommunities:
        return PriorCommunities(
            of.ids, of.sizes, of.parents, of.categories, of.captions, of.languages
        )

    both = made.groups, made.clusters
    return PriorClustering(
        known,
        *map(communities, both),
        *map(membership, both),
        changed(then.categories, now.categories),
        changed(then.captions, now.captions),
    )


def names(communities: Communities, entries: Entries) -> dict[str, str | None]:
    """The community of each entry."""
    numbers = communities.membership.community
    return {
        entry_id: communities.ids[number] if number >= 0 else None
        for entry_id, number in zip(entries.ids, numbers, strict=True)
    }


def how(communities: Communities, entries: Entries) -> dict[str, str | None]:
    """Why each entry is in its community or in none."""
    return {
        entry_id: HOW[number] if number >= 0 else None
        for entry_id, number in zip(entries.ids, communities.membership.how, strict=True)
    }


def parted(communities: Communities, entries: Entries) -> set[frozenset[str]]:
    """The communities as sets of entries, without ids."""
    members: dict[str, set[str]] = {}
    for entry_id, name in names(communities, entries).items():
        if name:
            members.setdefault(name, set()).add(entry_id)
    return {frozenset(each) for each in members.values()}
