"""Mean shifts: by hand, what is detectable against simulation, how many clusters are needed."""

import numpy as np
import pytest

from methods.evaluation.statistics.intervals import p_values
from methods.evaluation.statistics.resampling import ClusterTotals
from methods.evaluation.statistics.shifts import clusters_needed, detectable, mean_shift

ALPHA = 0.05 / 3


def test_clusters_count_alike_and_one_shows_nothing():
    shifts = np.array([1.0, 1.0, 1.0, 3.0])
    found = mean_shift(shifts, np.array([0, 0, 0, 1]), span=9, power=0.8, alpha=ALPHA)
    assert (found.shift, found.n_clusters) == (2, 2)
    alone = mean_shift(shifts, np.zeros(4, dtype=int), span=9, power=0.8, alpha=ALPHA)
    assert (alone.shift, alone.n_clusters) == (1.5, 1)
    assert (alone.ci_low, alone.p, alone.detectable) == (None, None, None)


def test_six_clusters_find_nothing_at_a_third_of_five_percent_and_seven_do():
    # p is never below 2 / 2^C: 0.031 and 0.0156.
    shifts = [np.linspace(-0.5, 0.5, n) for n in (6, 7)]
    few, enough = (detectable(of, span=9, power=0.8, alpha=ALPHA) for of in shifts)
    assert few is None and enough is not None


@pytest.mark.parametrize("n", [16, 40])
def test_a_detectable_shift_is_found_as_often_as_the_power_says(n):
    draw = np.random.default_rng(0)
    scores = draw.normal(0, 1, (60, n))
    sizes = [detectable(of, span=9, power=0.8, alpha=ALPHA) for of in scores]
    shift = np.mean([size for size in sizes if size is not None])
    moved = draw.normal(shift, 1, (2000, n))
    p = p_values(ClusterTotals(moved, np.ones_like(moved)), np.full(len(moved), 9.0))
    assert np.mean(p <= ALPHA) == pytest.approx(0.8, abs=0.05)


def test_without_any_difference_what_is_detectable_is_what_the_interval_leaves_open():
    # 9 (1 - 0.025^(1/n)): the share of cases of 9 points that n answers may not have shown.
    found = detectable(np.zeros(40), span=9, power=0.8, alpha=ALPHA)
    assert found == pytest.approx(9 * (1 - 0.025 ** (1 / 40)), rel=0.02)


def test_the_clusters_needed_are_the_first_that_are_enough():
    def needed(least, deviation, most=1000):
        return clusters_needed(least, deviation, span=9, power=0.8, alpha=ALPHA, most=most)

    n = needed(0.45, 2.0)
    # ((z_{1 - alpha/2} + z_0.8) 2 / 0.45)^2 = 207 with known deviations.
    assert 207 < n < 240
    assert needed(0.45, 2.0, most=50) == 50
    assert needed(0.45, 0.001) == pytest.approx(np.log(0.025) / np.log(1 - 0.05), abs=2)
