"""Mean shifts: by hand, what is detectable against simulation, how many clusters are needed."""

import numpy as np
import pytest
from scipy import stats

from methods.evaluation.statistics.shifts import clusters_needed, detectable, mean_shift

ALPHA = 0.05 / 3


def test_clusters_count_alike_and_one_shows_nothing():
    shifts = np.array([1.0, 1.0, 1.0, 3.0])
    found = mean_shift(shifts, np.array([0, 0, 0, 1]), span=9, power=0.8, alpha=ALPHA)
    assert (found.shift, found.n_clusters) == (2, 2)
    alone = mean_shift(shifts, np.zeros(4, dtype=int), span=9, power=0.8, alpha=ALPHA)
    assert (alone.shift, alone.n_clusters) == (1.5, 1)
    assert (alone.ci_low, alone.p, alone.detectable) == (None, None, None)


def test_what_is_detectable_of_symmetric_shifts_is_the_sum_of_two_quantiles_and_at_most_the_span():
    shifts = np.linspace(-0.5, 0.5, 7)
    quantiles = stats.t.ppf([1 - ALPHA / 2, 0.8], 6)
    expected = quantiles.sum() * stats.sem(shifts)
    assert detectable(shifts, span=9, power=0.8, alpha=ALPHA) == pytest.approx(expected)
    assert detectable(shifts, span=0.9 * expected, power=0.8, alpha=ALPHA) is None


def test_without_any_difference_what_is_detectable_is_what_the_interval_leaves_open():
    found = detectable(np.zeros(40), span=9, power=0.8, alpha=ALPHA)
    with_pseudo_clusters = stats.ttest_1samp([0] * 40 + [-9, 9], 0)
    assert found == pytest.approx(with_pseudo_clusters.confidence_interval(1 - ALPHA).high)


def test_the_clusters_needed_are_the_first_that_are_enough():
    def needed(least, deviation, most=1000):
        return clusters_needed(least, deviation, span=9, power=0.8, alpha=ALPHA, most=most)

    n = needed(0.45, 2.0)
    # ((z_{1 - alpha/2} + z_0.8) 2 / 0.45)^2 = 207 with known deviations.
    assert 207 < n < 212
    assert needed(0.45, 2.0, most=50) == 50
    # Shifts that hardly vary need as many as the interval of no shift.
    enough, too_few = (detectable(np.zeros(n), span=9, power=0.8, alpha=ALPHA) for n in (68, 67))
    assert needed(0.45, 0.001) == 68 and enough <= 0.45 < too_few
