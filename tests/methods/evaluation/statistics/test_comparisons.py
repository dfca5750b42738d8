"""Paired comparisons: differences, sign flips of clusters, Holm's adjustment, and what has none."""

from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from methods.evaluation.statistics import resampling
from methods.evaluation.statistics.comparisons import (
    NO_COMMON_UNITS,
    ONE_CLUSTER,
    compare_pairs,
    holm,
    sign_flip_p_values,
)
from methods.evaluation.statistics.estimates import Aggregation
from methods.evaluation.statistics.resampling import ClusterTotals
from tests.methods.evaluation.statistics.matrices import NAN, matrices

EVERY = pytest.mark.parametrize("aggregation", get_args(Aggregation))


def totals_of(*sums: float) -> ClusterTotals:
    """One row of differences, a unit a cluster."""
    return ClusterTotals(np.array([sums], dtype=float), np.ones((1, len(sums))))


def p_of(*sums: float, n_flips: int = 1000) -> float | None:
    return sign_flip_p_values(totals_of(*sums), seed=0, n_flips=n_flips)[0]


def test_difference_and_p_of_three_clusters_as_worked_by_hand():
    # Differences 3 and 1 in cluster 0, 2 in cluster 1, -1 in cluster 2: t = 4, 2, -1 and T = 5.
    # |+-4 +-2 +-1| >= 5 for the signs +++ (7), ++- (5) of (4, 2, 1) and their opposites: 4 of 8.
    values = np.array([[9, 5, 7, 3, NAN], [6, 4, 5, 4, 1]], dtype=float)
    (found,) = compare_pairs(values, np.array([0, 0, 1, 2, 2]), "micro", seed=0)
    assert found.difference == pytest.approx(5 / 4)
    assert (found.p_value, found.p_adjusted) == (4 / 8, 4 / 8)
    assert (found.n_units, found.n_clusters, found.reason) == (4, 3, None)
    assert found.ci_low < 5 / 4 < found.ci_high
    # Macro: cluster means 2, 2, -1 and T = 3, reached by the signs +++ (5), ++- (3) of (2, 2, 1)
    # and their opposites: 4 of 8. The mean is (2 + 2 - 1) / 3.
    (found,) = compare_pairs(values, np.array([0, 0, 1, 2, 2]), "macro", seed=0)
    assert (found.difference, found.p_value) == (1, 4 / 8)


def test_all_clusters_the_same_way_have_the_smallest_p_there_is():
    assert p_of(1, 2, 3, 4, 5) == 2 / 2**5
    assert p_of(1) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_p_is_that_of_scipys_permutation_test(seed):
    sums = np.random.default_rng(seed).normal(0.5, 1, 9)
    oracle = stats.permutation_test(
        (sums,),
        lambda x, axis: np.abs(x.sum(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    )
    assert p_of(*sums) == pytest.approx(oracle.pvalue)


def test_drawn_signs_come_close_to_all_of_them_and_p_is_never_zero():
    sums = np.random.default_rng(1).normal(0.4, 1, 14)
    signs = np.array(list(product([-1, 1], repeat=14)))
    exact = np.mean(np.abs(signs @ sums) >= abs(sums.sum()) - 1e-9)
    # The standard error of a share p of 20,000 is sqrt(p (1 - p) / 20,000) < 0.0036.
    assert p_of(*sums, n_flips=20_000) == pytest.approx(exact, abs=0.012)
    assert p_of(*[1.0] * 40, n_flips=99) == 1 / 100


def test_how_many_signs_are_in_memory_at_once_changes_nothing(monkeypatch):
    sums = np.random.default_rng(1).normal(0.2, 1, 30)
    wanted = p_of(*sums)
    monkeypatch.setattr(resampling, "CELLS", 64)
    assert p_of(*sums) == wanted


@EVERY
@pytest.mark.parametrize("n_clusters", [1, 3, 12, 13, 40])
def test_identical_models_have_p_1(aggregation, n_clusters):
    values = np.tile(np.random.default_rng(0).normal(size=2 * n_clusters), (2, 1))
    clusters = np.arange(2 * n_clusters) % n_clusters
    (found,) = compare_pairs(values, clusters, aggregation, seed=0, n_resamples=200)
    assert (found.difference, found.p_value, found.p_adjusted) == (0, 1, 1)


@EVERY
def test_without_common_units_there_is_nothing_but_the_reason(aggregation):
    values = np.array([[1, 2, NAN, NAN], [NAN, NAN, 3, 4], [1, 1, 1, 1]])
    apart, *others = compare_pairs(values, np.arange(4), aggregation, seed=0, n_resamples=50)
    assert {apart.difference, apart.ci_low, apart.ci_high, apart.p_value, apart.p_adjusted} == {
        None
    }
    assert (apart.n_units, apart.n_clusters, apart.reason) == (0, 0, NO_COMMON_UNITS)
    assert [each.n_units for each in others] == [2, 2]
    assert compare_pairs(values[:, :0], np.arange(0), aggregation, seed=0)[0].reason == (
        NO_COMMON_UNITS
    )


@EVERY
def test_one_cluster_has_a_difference_but_no_interval_and_p_1(aggregation):
    (found,) = compare_pairs(np.array([[5.0, 6], [1, 2]]), np.array([4, 4]), aggregation, seed=0)
    assert (found.difference, found.ci_low, found.ci_high) == (4, None, None)
    assert (found.p_value, found.reason) == (1, ONE_CLUSTER)


def test_no_pairs_of_one_model_or_of_none():
    assert compare_pairs(np.ones((1, 3)), np.arange(3), "micro", seed=0) == []
    assert compare_pairs(np.ones((0, 3)), np.arange(3), "micro", seed=0) == []


def test_holm_as_worked_by_hand():
    # Sorted: 0.01 * 4 = 0.04; 0.02 * 3 = 0.06; 0.022 * 2 = 0.044, but not less than 0.06; 0.6 * 1.
    assert holm([0.02, None, 0.6, 0.01, 0.022]) == pytest.approx([0.06, None, 0.6, 0.04, 0.06])
    assert holm([0.7, 0.9]) == [1, 1]
    assert holm([]) == []


@given(
    st.lists(st.integers(1, 200).map(lambda n: n / 200), min_size=1, max_size=12),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_holm_rejects_what_his_procedure_rejects(p_values, alpha):
    # Step down: reject the smallest while it is at most alpha / (number of hypotheses left).
    left, rejected = sorted(range(len(p_values)), key=p_values.__getitem__), set()
    while left and p_values[left[0]] * len(left) <= alpha:
        rejected.add(left.pop(0))
    # Equal p-values stand or fall together, so that their order cannot matter.
    adjusted = holm(p_values)
    assert {place for place, p in enumerate(adjusted) if p <= alpha} == rejected
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))


@EVERY
@given(matrix=matrices(max_clusters=16))
def test_exchanging_two_models_changes_the_sign_alone(aggregation, matrix):
    values, clusters = matrix
    pair = np.concatenate([values, values + 1])[:2]
    (one,) = compare_pairs(pair, clusters, aggregation, seed=0, n_resamples=40)
    (other,) = compare_pairs(pair[::-1], clusters, aggregation, seed=0, n_resamples=40)
    assert (one.p_value, one.n_units, one.reason) == (other.p_value, other.n_units, other.reason)
    if one.difference is not None:
        assert one.difference == pytest.approx(-other.difference)
    if one.ci_low is not None:
        assert one.ci_low == pytest.approx(-other.ci_high)


@EVERY
@given(matrix=matrices())
def test_what_makes_a_unit_hard_for_all_models_cancels_out(aggregation, matrix):
    values, clusters = matrix
    harder = values - 10.0 * np.arange(len(clusters))
    for one, other in zip(
        compare_pairs(values, clusters, aggregation, seed=0, n_resamples=20),
        compare_pairs(harder, clusters, aggregation, seed=0, n_resamples=20),
        strict=True,
    ):
        assert vars(one) == pytest.approx(vars(other))
