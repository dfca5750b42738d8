"""Entries on a plane: which entries are on the map, and that neighbours stay neighbours."""

import numpy as np
import pytest

from methods.clustering.projection import MIN_POINTS, project, sample_for_map

ENTRIES = [(f"entry-{number}", number % 3 == 0) for number in range(30)]


def blobs(seed: int, n_blobs: int = 4, n_each: int = 15, d: int = 64) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.repeat(rng.normal(size=(n_blobs, d)), n_each, axis=0)
    vectors = centres + 0.15 * rng.normal(size=centres.shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def test_clustered_entries_come_first_up_to_the_limit() -> None:
    assert set(sample_for_map(ENTRIES, 10, seed=0)) == {
        each for each, clustered in ENTRIES if clustered
    }
    twelve = sample_for_map(ENTRIES, 12, seed=0)
    assert len(twelve) == 12 and twelve[:10] == sample_for_map(ENTRIES, 10, seed=0)
    assert sorted(sample_for_map(ENTRIES, 99, seed=0)) == sorted(each for each, _ in ENTRIES)


def test_the_order_depends_on_seed_and_id_alone() -> None:
    order = sample_for_map(ENTRIES, 30, seed=0)
    assert sample_for_map(reversed(ENTRIES), 30, seed=0) == order
    assert sample_for_map(ENTRIES, 30, seed=1) != order
    without = [entry for entry in ENTRIES if entry[0] != order[4]]
    assert sample_for_map(without, 30, seed=0) == order[:4] + order[5:]


@pytest.mark.parametrize("seed", range(2))
def test_neighbours_stay_neighbours_and_the_same_seed_gives_the_same_places(seed: int) -> None:
    vectors = blobs(seed)
    plane = project(vectors, seed=seed)
    assert plane.shape == (60, 2) and plane.dtype == np.float32
    distance = np.linalg.norm(plane[:, None] - plane[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    # Each point's nearest on the map is of its own blob.
    assert (distance.argmin(axis=1) // 15 == np.arange(60) // 15).all()
    assert seed or (project(vectors, seed=seed) == plane).all()


@pytest.mark.parametrize("n", range(MIN_POINTS + 2))
def test_any_number_of_points_has_places(n: int) -> None:
    plane = project(blobs(0)[:n], seed=0)
    assert plane.shape == (n, 2)
    assert np.isfinite(plane).all()


def test_few_points_lie_along_their_main_axes() -> None:
    # On a line: the second axis has nothing to say.
    line = np.outer(np.array([-1, 0, 2], dtype=np.float32), np.ones(4, dtype=np.float32))
    plane = project(line, seed=0)
    gaps = np.diff(plane[:, 0])
    assert gaps[1] / gaps[0] == pytest.approx(2.0, rel=1e-5)
    assert plane[:, 1] == pytest.approx(np.zeros(3), abs=1e-5)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_equal_vectors_lie_on_one_spot(n: int) -> None:
    assert (project(np.ones((n, 8), dtype=np.float32), seed=0) == 0).all()
