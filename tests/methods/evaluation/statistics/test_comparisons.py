"""Paired comparisons: differences, Holm's adjustment, and what has none."""

import numpy as np
import pytest
from hypothesis import example, given

from methods.evaluation.statistics.bootstrap import Clusters, Floats, paired_totals
from methods.evaluation.statistics.comparisons import (
    NO_COMMON_UNITS,
    ONE_CLUSTER,
    Comparison,
    compared_sides,
    holm,
)
from methods.evaluation.statistics.estimates import PAIRED_T
from tests.methods.evaluation.statistics.matrices import NAN, matrices

SPAN = 10.0


def compare_pairs(values: Floats, clusters: Clusters) -> list[Comparison]:
    return compared_sides(paired_totals(values, clusters), SPAN)


def test_difference_of_three_clusters_as_worked_by_hand():
    # Differences 3 and 1 in cluster 0, 2 in cluster 1, -1 in cluster 2.
    values = np.array([[9, 5, 7, 3, NAN], [6, 4, 5, 4, 1]], dtype=float)
    (found,) = compare_pairs(values, np.array([0, 0, 1, 2, 2]))
    assert found.difference == pytest.approx(5 / 4)
    assert 0.05 < found.p_value == found.p_adjusted < 1
    assert (found.n_units, found.n_clusters, found.reason) == (4, 3, None)
    assert found.ci_low < 0 < 5 / 4 < found.ci_high and found.method == PAIRED_T


@pytest.mark.parametrize("n_clusters", [1, 3, 12, 13, 40])
def test_identical_models_have_p_1(n_clusters):
    values = np.tile(np.random.default_rng(0).normal(size=2 * n_clusters), (2, 1))
    clusters = np.arange(2 * n_clusters) % n_clusters
    (found,) = compare_pairs(values, clusters)
    assert (found.difference, found.p_value, found.p_adjusted) == (0, 1, 1)


def test_without_common_units_there_is_nothing_but_the_reason():
    values = np.array([[1, 2, NAN, NAN], [NAN, NAN, 3, 4], [1, 1, 1, 1]])
    apart, *others = compare_pairs(values, np.arange(4))
    assert {apart.difference, apart.ci_low, apart.ci_high} == {None}
    assert {apart.p_value, apart.p_adjusted} == {None}
    assert (apart.n_units, apart.n_clusters, apart.reason) == (0, 0, NO_COMMON_UNITS)
    assert [each.n_units for each in others] == [2, 2]
    nothing, *_ = compare_pairs(values[:, :0], np.arange(0))
    assert nothing.reason == NO_COMMON_UNITS
    # One model or none has no pairs.
    for n in (0, 1):
        assert compare_pairs(np.ones((n, 3)), np.arange(3)) == []


def test_one_cluster_has_a_difference_but_no_interval_and_p_1():
    (found,) = compare_pairs(np.array([[5.0, 6], [1, 2]]), np.array([4, 4]))
    assert (found.difference, found.ci_low, found.ci_high) == (4, None, None)
    assert (found.p_value, found.reason) == (1, ONE_CLUSTER)


def test_holm_as_worked_by_hand():
    # Sorted: 0.01 * 4 = 0.04; 0.02 * 3 = 0.06; 0.022 * 2 = 0.044, but not less than 0.06; 0.6 * 1.
    assert holm([0.02, None, 0.6, 0.01, 0.022]) == pytest.approx([0.06, None, 0.6, 0.04, 0.06])
    assert holm([0.7, 0.9]) == [1, 1]
    assert holm([]) == []


@given(matrix=matrices(max_clusters=16))
@example(matrix=(np.ones((1, 6)), np.arange(6)))
def test_exchanging_two_models_changes_the_sign_alone(matrix):
    values, clusters = matrix
    pair = np.concatenate([values, values + 1])[:2]
    (one,) = compare_pairs(pair, clusters)
    (other,) = compare_pairs(pair[::-1], clusters)
    assert (one.p_value, one.n_units, one.reason) == (other.p_value, other.n_units, other.reason)
    if one.difference is not None:
        assert one.difference == pytest.approx(-other.difference)
    if one.ci_low is not None:
        assert one.ci_low == pytest.approx(-other.ci_high)
