"""Difficulty and discrimination by hand, and against scipy's point-biserial correlation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pointbiserialr

from methods.evaluation.statistics.item_analysis import ItemStatistics, item_statistics

NAN = float("nan")


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


def test_fewer_results_than_asked_for_have_figures_and_no_flags() -> None:
    right = np.array([[1, NAN], [1, 0], [1, 1]])
    easy, known_twice = item_statistics(right, 4)
    assert (easy.n_models, easy.n_right, easy.flags) == (3, 3, ())
    assert (known_twice.n_models, known_twice.n_right) == (2, 1)


def test_an_item_that_nobody_is_known_on() -> None:
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
