"""Length against score, and scores at an equal length."""

import math

import numpy as np
import pytest

from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.length_control import (
    ALL_THE_SAME,
    EQUALLY_LONG,
    NO_SCORES,
    length_controlled_scores,
    length_correlation,
)
from tests.methods.evaluation.statistics.matrices import NAN

E = math.e
NOTHING = Estimate(None, None, None)


def controlled(scores, lengths, *, seed=0, n_resamples=100):
    scores, lengths = np.array(scores, dtype=float), np.array(lengths, dtype=float)
    clusters = np.arange(scores.shape[1])
    return length_controlled_scores(scores, lengths, clusters, seed=seed, n_resamples=n_resamples)


def test_two_models_as_worked_by_hand():
    # Log lengths: model 0 has 1, 3 (mean 2), model 1 has 3, 5 (mean 4); their mean is 3.
    # Scores 4, 6 (mean 5) and 7, 11 (mean 9).
    # b = ((-1)(-1) + (1)(1) + (-1)(-2) + (1)(2)) / (1 + 1 + 1 + 1) = 6 / 4.
    # a_0 = 5 - 1.5 (2 - 3) = 6.5; a_1 = 9 - 1.5 (4 - 3) = 7.5: of 4 points 3 were length.
    found = controlled([[4, 6], [7, 11]], [[E, E**3], [E**3, E**5]])
    assert found.slope.value == pytest.approx(1.5)
    assert [each.value for each in found.scores] == pytest.approx([6.5, 7.5])


def test_it_is_least_squares_with_an_effect_for_each_model():
    generator = np.random.default_rng(0)
    lengths = np.exp(generator.normal(5, 0.6, (3, 40)))
    scores = generator.normal(6, 1, (3, 40)) + 0.8 * np.log(lengths)
    scores[1, :7] = NAN
    lengths[2, 30:] = NAN
    used = ~np.isnan(scores) & ~np.isnan(lengths)
    model_of, _ = np.nonzero(used)
    x = np.log(lengths[used])
    design = np.column_stack([np.eye(3)[model_of], x - x.mean()])
    *effects, slope = np.linalg.lstsq(design, scores[used], rcond=None)[0]
    found = controlled(scores, lengths)
    assert [each.value for each in found.scores] == pytest.approx(effects)
    assert found.slope.value == pytest.approx(slope)


def test_without_scores_or_without_different_lengths_it_says_why():
    nothing = controlled([[NAN, 3]], [[4, NAN]])
    assert (nothing.scores, nothing.slope, nothing.reason) == ([NOTHING], NOTHING, NO_SCORES)
    # Lengths differ between the models, but not within one.
    same = controlled([[4, 6, 5], [7, 11, 2]], [[70, 70, 70], [90, 90, 90]])
    assert (same.scores, same.slope, same.reason) == ([NOTHING] * 2, NOTHING, EQUALLY_LONG)


def test_a_model_without_answers_has_no_score_and_the_others_have_theirs():
    found = controlled([[4, 6], [NAN, NAN]], [[10, 20], [NAN, 5]])
    assert found.scores[1] == Estimate(None, None, None, n_clusters=0)
    assert found.scores[0].value == pytest.approx(5)
    with pytest.raises(ValueError, match="must be above 0"):
        controlled([[4, 6]], [[0, 20]])


def test_length_correlation_is_spearmans_over_all_answers():
    # Ranks of scores 1, 2, 3, 4 and lengths 2, 1, 3, 4: 1 - 6 (1 + 1) / (4 (16 - 1)) = 0.8.
    scores = np.array([[1, 2], [3, 4], [NAN, 9]])
    lengths = np.array([[50, 20], [60, 900], [7, NAN]])
    assert length_correlation(scores, lengths).value == pytest.approx(0.8)
    assert length_correlation(scores[2:], lengths[2:]).reason == NO_SCORES
    assert length_correlation(np.full(3, 7.0), np.array([1.0, 2, 3])).reason == ALL_THE_SAME
