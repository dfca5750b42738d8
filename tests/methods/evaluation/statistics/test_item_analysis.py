"""Items and lengths: difficulty, discrimination, and scores at an equal length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pointbiserialr

from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.item_analysis import ItemStatistics, item_statistics
from methods.evaluation.statistics.length_control import (
    ALL_THE_SAME,
    EQUALLY_LONG,
    NO_SCORES,
    length_controlled_scores,
    length_correlation,
)
from tests.methods.evaluation.statistics.matrices import NAN

NOTHING = Estimate(None, None, None)


def controlled(scores, lengths):
    scores, lengths = np.array(scores, dtype=float), np.array(lengths, dtype=float)
    clusters = np.arange(scores.shape[1])
    return length_controlled_scores(scores, lengths, clusters, seed=0, n_resamples=100)


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


def test_by_hand() -> None:
    right = np.array([[1, 1, 0, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]], dtype=float)
    easy, telling, against, hard = item_statistics(right, 4)
    assert easy == ItemStatistics(
        4, 4, 1.0, None, "Every model is right, so it tells none from another.", ("everyone_right",)
    )
    # Item 2: 1 1 0 0; right of the others 2, 1, 2, 2 of 3: cov -1/4, so -1 / sqrt(1 * 3/4) / 2.
    assert telling.discrimination == pytest.approx(-1 / np.sqrt(3))
    assert against.flags == ("negative_discrimination",)
    # Item 4: 1 0 0 0; the others 2, 2, 2, 2.
    assert hard.discrimination is None
    assert hard.why == "All models are equally good on the other items."
    assert hard.share_right == 0.25


def test_fewer_results_than_asked_for_have_no_flags_and_no_result_no_figures() -> None:
    right = np.array([[1, NAN], [1, 0], [1, 1]])
    easy, known_twice = item_statistics(right, 4)
    assert (easy.n_models, easy.n_right, easy.flags) == (3, 3, ())
    assert (known_twice.n_models, known_twice.n_right) == (2, 1)
    (of, _) = item_statistics(np.array([[NAN, 1], [NAN, 0]]), 1)
    assert (of.n_models, of.share_right, of.discrimination, of.flags) == (0, None, None, ())
    assert of.why == "No model has a known result."
    assert item_statistics(np.zeros((0, 2)), 1)[0].n_models == 0
    assert item_statistics(np.zeros((2, 0)), 1) == []


@given(st.integers(3, 9), st.integers(2, 7), st.integers(0, 10**6))
def test_it_is_the_point_biserial_correlation_with_the_rest(n: int, k: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    right = draw.integers(0, 2, (n, k)).astype(float)
    right[draw.random((n, k)) < 0.1] = NAN
    for place, of in enumerate(item_statistics(right, 1)):
        here = ~np.isnan(right[:, place])
        rest = np.delete(right, place, axis=1)
        here &= ~np.isnan(rest).all(axis=1)
        item = right[here, place]
        others = np.array([np.nanmean(row) for row in rest[here]])
        if of.discrimination is None:
            assert len(item) < 2 or np.ptp(item) == 0 or np.ptp(others) < 1e-9
        else:
            expected = pointbiserialr(item, others).statistic
            assert of.discrimination == pytest.approx(expected, abs=1e-9)
