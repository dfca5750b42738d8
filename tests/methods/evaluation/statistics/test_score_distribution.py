"""Distribution of a judge's scores."""

import math

import numpy as np
import pytest

from methods.evaluation.statistics.score_distribution import ScoreDistribution, score_distribution
from tests.methods.evaluation.statistics.matrices import NAN


def test_eight_scores_as_worked_by_hand():
    found = score_distribution(np.array([10, 10, 9, NAN, 10, 7, 1, 9, 8]), 1, 10)
    assert found.n == 8
    # Sum 64; deviations 2, 2, 1, 2, -1, -7, 1, 0: squares 4 + 4 + 1 + 4 + 1 + 49 + 1 + 0 = 64.
    assert found.mean == 8
    assert found.standard_deviation == pytest.approx(math.sqrt(64 / 7))
    assert (found.ceiling_rate, found.floor_rate) == (3 / 8, 1 / 8)


def test_no_scores_have_no_rates_and_one_has_no_deviation():
    assert score_distribution(np.array([NAN]), 1, 10) == ScoreDistribution(
        0, None, None, None, None
    )
    assert score_distribution(np.array([10.0]), 1, 10) == ScoreDistribution(1, 10, None, 1, 0)
