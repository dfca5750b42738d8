"""Paired comparisons of models, Holm's adjustment, and the ranks that follow."""

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
from methods.evaluation.statistics.ranks import Rank, rank_models
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


def test_without_common_units_there_is_nothing_and_of_one_cluster_no_interval():
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


def compared(first, second, difference, p_adjusted) -> Comparison:
    return Comparison(first, second, difference, None, None, p_adjusted, p_adjusted, 9, 9)


def test_four_models_as_worked_by_hand():
    # 0 is surely better than 2 and 3, 1 surely better than 3; 0 and 1, 1 and 2, 2 and 3 are open.
    comparisons = [
        compared(0, 1, 5, 0.4),
        compared(0, 2, 8, 0.01),
        compared(0, 3, 12, 0.001),
        compared(1, 2, 3, 0.06),
        compared(1, 3, 7, 0.05),
        compared(2, 3, 4, 0.2),
    ]
    assert rank_models([80, 75, 72, 68], comparisons, higher_is_better=True) == [
        Rank(1, 1, 2),  # none surely better, two of four surely worse
        Rank(2, 1, 3),
        Rank(3, 2, 4),
        Rank(4, 3, 4),
    ]
    # The same as errors, of which fewer are better.
    ranks = rank_models([80, 75, 72, 68], comparisons, higher_is_better=False)
    assert ranks == [Rank(4, 3, 4), Rank(3, 2, 4), Rank(2, 1, 3), Rank(1, 1, 2)]


def test_equal_scores_share_a_rank_and_the_next_one_is_left_out():
    # 0.1 + 0.2 and 0.3 differ in their last digit, which is rounding.
    scores = [0.9, 0.1 + 0.2, 0.3, 0.1]
    ranks = rank_models(scores, [], higher_is_better=True)
    assert [each.rank for each in ranks] == [1, 2, 2, 4]
    assert {(each.low, each.high) for each in ranks} == {(1, 4)}


def test_a_model_without_a_score_has_no_rank_and_takes_none():
    comparisons = [compared(0, 1, 5, 0.01), compared(0, 2, 9, 0.01), compared(1, 2, None, None)]
    ranks = rank_models([80, None, 72], comparisons, higher_is_better=True)
    assert ranks == [Rank(1, 1, 1), Rank(None, None, None), Rank(2, 2, 2)]
