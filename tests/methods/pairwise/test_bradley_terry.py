"""The Bradley-Terry model: by hand, and as public implementations have it."""

import math

import numpy as np
import pytest

from methods.pairwise.battles import battles_of
from methods.pairwise.bradley_terry import fit, is_finite, parts, to_points
from tests.methods.pairwise.arena_battles import ARENA, RATINGS


def fitted(wins):
    wins = np.array(wins, dtype=float)
    compared = (wins + wins.T) > 0
    return fit(wins[None], compared)[0]


def test_two_models_have_the_log_odds_between_them_and_very_unequal_numbers_converge():
    # 3 wins to 1: odds of 3, so the strengths differ by ln 3; 9 to 1 are ln 9 = 381.7 points.
    assert fitted([[0, 3], [1, 0]]) == pytest.approx([math.log(3) / 2, -math.log(3) / 2])
    assert np.ptp(to_points(fitted([[0, 9], [1, 0]]))) == pytest.approx(400 * math.log10(9))
    # Very unequal numbers converge.
    strengths = fitted([[0, 1e6, 1e6], [1, 0, 1e6], [1e-3, 1, 0]])
    assert strengths[0] - strengths[1] == pytest.approx(math.log(1e6), rel=0.05)
    assert strengths[0] > strengths[1] > strengths[2]


def test_ratings_are_those_of_arena_rank_and_evalica():
    battles = battles_of(ARENA)
    assert to_points(fitted(battles.wins())) == pytest.approx(RATINGS, abs=0.001)


def test_half_a_win_is_added_to_a_fit_without_a_maximum_alone():
    finite, not_finite = [[0.0, 3], [1, 0]], [[0.0, 4], [0, 0]]
    compared = np.array([[False, True], [True, False]])
    # 4 to 0 becomes 4.5 to 0.5: odds of 9.
    found = fit(np.array([finite, not_finite]), compared)
    assert found[:, 0] == pytest.approx([math.log(3) / 2, math.log(9) / 2])


def test_a_maximum_is_finite_within_parts_that_wins_connect():
    circle = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
    ladder = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert is_finite(np.array([circle, ladder], dtype=float)).tolist() == [True, False]
    # Models that no battles connect are in parts.
    compared = np.zeros((4, 4), dtype=bool)
    compared[0, 2] = compared[2, 0] = compared[1, 3] = compared[3, 1] = True
    assert parts(compared).tolist() == [0, 1, 0, 1]
