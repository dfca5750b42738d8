"""Clusters, dendrogram and picture, with maps worked by hand and families planted on purpose."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from extras.task_map.methods.clustering import (
    Floats,
    TooFewTasks,
    leaves,
    stress,
    task_map,
    tree_of,
)

# a and b are 1 apart, c is 3 from a and 4 from b: a triangle with a right angle nowhere.
THREE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.5], [3.0, 3.5, 0.0]])


def test_three_tasks_by_hand() -> None:
    made = task_map(["a", "b", "c"], THREE)
    # a and b are nearest; c is (3 + 3.5) / 2 from both on average.
    # The columns are both branches, their distance and the number of tasks.
    assert tree_of(THREE).tolist() == [[0, 1, 1.0, 2], [2, 3, 3.25, 3]]
    assert made.clusters[0] == made.clusters[1] != made.clusters[2]
    assert sorted(made.clusters) in ([1, 1, 2], [1, 2, 2])
    # Any triangle can be drawn on a plane.
    assert pdist(made.places) == pytest.approx([1, 3, 3.5], abs=1e-3)
    assert stress(THREE, made.places) == pytest.approx(0, abs=1e-3)


def test_stress_by_hand() -> None:
    # On a line at 0, 1, 3: distances 1, 3, 2 for 1, 3, 3.5. Only the last is off, by 1.5.
    places = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    assert stress(THREE, places) == pytest.approx(1.5 / np.sqrt(1 + 9 + 12.25))


def test_the_order_of_tasks_does_not_matter() -> None:
    turned = [2, 0, 1]
    other = task_map([("a", "b", "c")[place] for place in turned], THREE[np.ix_(turned, turned)])
    made = task_map(["a", "b", "c"], THREE)
    assert (
        (made.tasks, made.clusters)
        == (other.tasks, other.clusters)
        == (("a", "b", "c"), made.clusters)
    )
    assert np.array_equal(made.places, other.places)


def planted(sizes: list[int], seed: int) -> tuple[list[str], Floats]:
    """Families of vectors, each around a direction of its own, and their cosine distances."""
    generator = np.random.default_rng(seed)
    vectors = np.concatenate(
        [
            np.eye(len(sizes), 60)[family] + 0.05 * generator.standard_normal((size, 60))
            for family, size in enumerate(sizes)
        ]
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"{family}-{number}" for family, size in enumerate(sizes) for number in range(size)]
    distances = np.clip(1 - vectors @ vectors.T, 0, 2)
    np.fill_diagonal(distances, 0)
    return names, distances


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(2, 6), min_size=2, max_size=4), st.integers(0, 1000))
def test_planted_families_are_found_as_clusters(sizes: list[int], seed: int) -> None:
    made = task_map(*planted(sizes, seed))
    found = {task: cluster for task, cluster in zip(made.tasks, made.clusters, strict=True)}
    families = {task.split("-")[0]: set() for task in found}  # type: dict[str, set[int]]
    for task, cluster in found.items():
        families[task.split("-")[0]].add(cluster)
    assert all(len(clusters) == 1 for clusters in families.values())
    assert len(set(found.values())) == len(sizes)


def test_clusters_are_numbered_in_the_order_of_the_dendrogram() -> None:
    tasks, distances = planted([3, 5, 2], 1)
    made = task_map(tasks, distances)
    along = [made.clusters[place] for place in leaves(made.distances)]
    assert along == sorted(along) and along[0] == 1


def test_tasks_that_are_all_alike_are_one_cluster_in_one_place() -> None:
    made = task_map(["a", "b", "c", "d"], np.zeros((4, 4)))
    assert made.clusters == (1, 1, 1, 1)
    assert not made.places.any() and stress(made.distances, made.places) == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(3, 8), st.integers(0, 1000))
def test_distances_without_a_triangle_inequality_have_places(n: int, seed: int) -> None:
    """Correlation distances may be any from 0 to 2: many have one positive eigenvalue or none."""
    drawn = np.random.default_rng(seed).choice([0.0, 0.1, 2.0], (n, n))
    distances = np.triu(drawn, 1) + np.triu(drawn, 1).T
    made = task_map([f"task-{number}" for number in range(n)], distances)
    assert np.isfinite(made.places).all()
    # No worse than all tasks in one place, whose stress is 1.
    assert stress(made.distances, made.places) < 1 or not distances.any()


def test_three_tasks_on_a_line_have_places() -> None:
    # a and c are further apart than by b: no triangle; eigenvalues by hand: 2, 0 and -1/2.
    made = task_map(["a", "b", "c"], np.array([[0.0, 0.5, 2.0], [0.5, 0.0, 0.5], [2.0, 0.5, 0.0]]))
    assert np.isfinite(made.places).all()
    # Least squares of three distances on a line: x + x = 2 - e and x = 0.5 + e, with e = 1/3.
    assert sorted(pdist(made.places)) == pytest.approx([5 / 6, 5 / 6, 5 / 3], abs=1e-2)


def test_two_tasks_are_no_map() -> None:
    with pytest.raises(TooFewTasks, match="needs 3 tasks or more, and there are 2"):
        task_map(["a", "b"], np.zeros((2, 2)))
