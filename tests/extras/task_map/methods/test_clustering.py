"""Task maps worked by hand and planted: vectors, profiles, clusters, scores and difficulty."""

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr

from extras.task_map.methods.cluster_scores import NO_DISTANCE, cluster_findings
from extras.task_map.methods.clustering import Floats, leaves, stress, task_map, tree_of
from extras.task_map.methods.difficulty import learning_difficulty
from extras.task_map.methods.profiles import SAME, correlation_distances, profiles
from extras.task_map.methods.vectors import ZeroTaskVectorError, cosine_distances, low_rank_products
from methods.evaluation.metrics.mean import Mean
from tests.methods.evaluation.observed import ScoredObservation, frame


def test_three_vectors_by_hand() -> None:
    # East, north-east and west: cosines 1/sqrt(2), -1 and -1/sqrt(2).
    products = np.array([[4.0, 2.0, -6.0], [2.0, 2.0, -3.0], [-6.0, -3.0, 9.0]])
    half = 1 / np.sqrt(2)
    assert cosine_distances(products, ["e", "ne", "w"]) == pytest.approx(
        np.array([[0, 1 - half, 2], [1 - half, 0, 1 + half], [2, 1 + half, 0]])
    )
    # A vector of zeros has no direction.
    with pytest.raises(ZeroTaskVectorError, match="The weights of still are those of the base"):
        cosine_distances(np.array([[1.0, 0.0], [0.0, 0.0]]), ["moved", "still"])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=5),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(0, 10_000),
)
def test_low_rank_products_are_those_of_the_full_changes(ranks, n_out, n_in, seed) -> None:
    generator = np.random.default_rng(seed)
    ups = [generator.standard_normal((n_out, rank)) for rank in ranks]
    downs = [generator.standard_normal((rank, n_in)) for rank in ranks]
    full = np.array([(up @ down).ravel() for up, down in zip(ups, downs, strict=True)])
    assert low_rank_products(ups, downs) == pytest.approx(full @ full.T, rel=1e-9, abs=1e-9)


def test_low_rank_products_need_memory_in_proportion_to_their_factors() -> None:
    factors = [np.ones((100, 100))] * 20
    tracemalloc.start()
    products = low_rank_products(factors, factors)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Products of ones: 100 x 100 numbers, each 100.
    assert products.tolist() == [[1e8] * 20] * 20
    assert peak < 10 * sum(factor.nbytes for factor in factors)


MODELS = ("m1", "m2", "m3")


def scores(**of: tuple[float, ...]) -> dict[str, dict[str, float]]:
    return {task: dict(zip(MODELS, values, strict=False)) for task, values in of.items()}


def test_correlation_distances_of_four_tasks_by_hand() -> None:
    # a and b rise together; c falls; r of (1, 2, 3) and (1, 3, 2) is 1/2.
    found = profiles(scores(a=(10, 20, 30), b=(50, 60, 70), c=(9, 6, 3), d=(1, 3, 2)))
    assert found.why_no_map is None and found.models == MODELS
    assert correlation_distances(found) == pytest.approx(
        np.array([[0, 0, 2, 0.5], [0, 0, 2, 0.5], [2, 2, 0, 1.5], [0.5, 0.5, 1.5, 0]])
    )


def test_a_task_on_which_all_models_are_alike_and_a_model_with_a_gap_are_left_out() -> None:
    table = scores(b=(2, 1, 3), a=(1, 2, 3), c=(3, 2, 1), flat=(50, 50, 50))
    table["a"]["m4"] = table["b"]["m4"] = table["flat"]["m4"] = 5
    found = profiles(table)
    assert found.tasks == ("a", "b", "c") and found.other_tasks == {"flat": SAME}
    assert found.models == MODELS and found.scores.shape == (3, 3)
    assert found.other_models == {"m4": "It has no score on c."}


@pytest.mark.parametrize(
    ("table", "why"),
    [
        (scores(a=(1, 2), b=(2, 1), c=(1, 3)), "needs 3 models .* there are 2"),
        (scores(a=(1, 2, 3), b=(2, 1, 3)), "needs 3 tasks .* there are 2"),
        (scores(a=(1, 2, 3), b=(2, 1, 3), c=(5, 5, 5)), "needs 3 tasks that models differ on"),
    ],
)
def test_too_little_is_no_map(table: dict[str, dict[str, float]], why: str) -> None:
    assert re.search(why, profiles(table).why_no_map or "")


# a and b are 1 apart, c is 3 from a and 4 from b: a triangle with a right angle nowhere.
THREE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.5], [3.0, 3.5, 0.0]])


def test_three_tasks_by_hand() -> None:
    made = task_map(["a", "b", "c"], THREE)
    # a and b are nearest; c is (3 + 3.5) / 2 from both on average.
    # The columns are both branches, their distance and the number of tasks.
    assert tree_of(THREE).tolist() == [[0, 1, 1.0, 2], [2, 3, 3.25, 3]]
    assert made.clusters[0] == made.clusters[1] != made.clusters[2]
    assert sorted(made.clusters) in ([1, 1, 2], [1, 2, 2])
    assert sorted(task_map(["a", "b", "c"], THREE, n_clusters=3).clusters) == [1, 2, 3]
    mixed = [1, 2, 0]
    other = task_map(["b", "c", "a"], THREE[np.ix_(mixed, mixed)])
    assert (other.tasks, other.clusters) == (made.tasks, made.clusters)
    assert other.distances.tolist() == made.distances.tolist()
    # Any triangle can be drawn on a plane.
    assert pdist(made.places) == pytest.approx([1, 3, 3.5], abs=1e-3)
    assert stress(THREE, made.places) == pytest.approx(0, abs=1e-3)


def test_stress_by_hand() -> None:
    # On a line at 0, 1, 3: distances 1, 3, 2 for 1, 3, 3.5. Only the last is off, by 1.5.
    places = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    assert stress(THREE, places) == pytest.approx(1.5 / np.sqrt(1 + 9 + 12.25))


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


def test_three_tasks_on_a_line_have_places() -> None:
    # a and c are further apart than by b: no triangle; eigenvalues by hand: 2, 0 and -1/2.
    made = task_map(["a", "b", "c"], np.array([[0.0, 0.5, 2.0], [0.5, 0.0, 0.5], [2.0, 0.5, 0.0]]))
    assert np.isfinite(made.places).all()
    # Least squares of three distances on a line: x + x = 2 - e and x = 0.5 + e, with e = 1/3.
    assert sorted(pdist(made.places)) == pytest.approx([5 / 6, 5 / 6, 5 / 3], abs=1e-2)


BY_TASK = Mean(
    name="Accuracy",
    observation="right",
    aggregation="macro by task",
    scale=100.0,
    lowest=0.0,
    highest=100.0,
)
TASKS = {"a": "VO", "b": "VO", "c": "VO", "d": "VO", "e": "TO", "f": "GAR"}
VALUES = {"m": "110010", "n": "100001"}
CLUSTERS = {"VO": 1, "TO": 1, "GAR": 2}
DISTANCES = {("TO", "VO"): 0.25, ("GAR", "TO"): 1.5, ("GAR", "VO"): 1.0}


MEANS = {("1", "m"): 75, ("1", "n"): 12.5, ("1", ""): 43.75, ("2", "m"): 0, ("2", "n"): 100}
"""Scores by cluster and model."""


def test_distance_and_score_of_a_cluster() -> None:
    observed = {
        model: [
            ScoredObservation(item, item, "plain", 1, "right", float(value), labels={"task": task})
            for (item, task), value in zip(TASKS.items(), values, strict=True)
        ]
        for model, values in VALUES.items()
    }
    findings = cluster_findings(BY_TASK, frame(observed), "task", CLUSTERS, DISTANCES)
    found = {(each.subset_value[0], each.measure, each.subject): each for each in findings}
    # The distance is the mean of the pairs within.
    within = found["1", "cluster_distance", ""]
    assert (within.value, within.n, within.subset_value) == (0.25, 1, "1: TO, VO")
    alone = found["2", "cluster_distance", ""]
    assert (alone.value, alone.n, alone.reason) == (None, 0, NO_DISTANCE)
    # All tasks have the same weight in the score. m: VO 2 of 4, TO 1 of 1; n: VO 1 of 4, TO 0 of 1.
    means = {(of, model): found[of, "cluster_mean", model].value for of, model in MEANS}
    assert means == pytest.approx(MEANS)
    assert found["1", "cluster_mean", "m"].n_clusters == 5


def test_four_tasks_by_hand() -> None:
    # Ranks 1, 2, 3, 4 and 2, 1, 4, 3: rho = 1 - 6 * (4 x 1) / (4 x 15) = 0.6.
    found = learning_difficulty(
        {"a": 0.1, "b": 0.2, "c": 0.6, "d": 0.9, "alone": 1.0},
        {"a": 30, "b": 20, "c": 80, "d": 70, "other": 50},
        n_resamples=999,
    )
    assert found.rho.value == pytest.approx(0.6) and found.n == 4
    # Of the 24 orders, 5 have a rho of 0.6 or more, and as many one of -0.6 or less.
    assert found.p == pytest.approx(10 / 24)
    assert found.rho.ci_low is not None and found.rho.ci_low <= 0.6 <= (found.rho.ci_high or 0)
    assert found.hard == ("a", "b")
    assert (found.only_fine_tuned, found.only_asked) == (("alone",), ("other",))


def test_against_scipy_on_as_many_tasks_as_the_paper_has() -> None:
    generator = np.random.default_rng(4)
    first = generator.normal(size=52)
    second = first + generator.normal(size=52)
    names = [f"t{number}" for number in range(52)]
    found = learning_difficulty(
        dict(zip(names, first, strict=True)), dict(zip(names, second, strict=True))
    )
    assert found.rho.value == pytest.approx(spearmanr(first, second).statistic)
    assert found.p is not None and found.p <= 0.001


def test_equal_accuracies_have_no_order() -> None:
    found = learning_difficulty(dict.fromkeys("abc", 1.0), {"a": 1, "b": 2, "c": 3})
    assert found.rho.value is None and found.p is None and found.reason
    assert found.hard == (), "no task is below the median of both"
