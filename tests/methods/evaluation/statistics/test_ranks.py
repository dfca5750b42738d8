"""Ranks and their intervals: by hand, ties, missing models."""

from methods.evaluation.statistics.comparisons import Comparison
from methods.evaluation.statistics.ranks import Rank, rank_models


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
    assert rank_models([80, 75, 72, 68], comparisons, higher_is_better=False) == [
        Rank(4, 3, 4),
        Rank(3, 2, 4),
        Rank(2, 1, 3),
        Rank(1, 1, 2),
    ]


def test_equal_scores_share_a_rank_and_the_next_one_is_left_out():
    # 0.1 + 0.2 and 0.3 differ in their last digit, which is rounding.
    scores = [0.9, 0.1 + 0.2, 0.3, 0.1]
    ranks = rank_models(scores, [], higher_is_better=True)
    assert [each.rank for each in ranks] == [1, 2, 2, 4]
    assert {(each.low, each.high) for each in ranks} == {(1, 4)}


def test_a_model_without_a_score_has_no_rank_and_takes_none():
    comparisons = [compared(0, 1, 5, 0.01), compared(0, 2, 9, 0.01), compared(1, 2, None, None)]
    assert rank_models([80, None, 72], comparisons, higher_is_better=True) == [
        Rank(1, 1, 1),
        Rank(None, None, None),
        Rank(2, 2, 2),
    ]
