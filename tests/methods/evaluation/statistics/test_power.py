"""What is detectable and how many clusters are needed: differences of models and mean shifts."""

import math

import numpy as np
import pytest
from scipy import stats

from methods.evaluation.statistics import power
from methods.evaluation.statistics.bootstrap import ClusterTotals, paired_totals
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.evaluation.statistics.intervals import mean_fit, p_values
from methods.evaluation.statistics.shifts import clusters_needed as needed_of_shifts
from methods.evaluation.statistics.shifts import detectable, mean_shift
from tests.methods.evaluation.statistics.matrices import NAN


def differences(values, clusters) -> ClusterTotals:
    """Those of every pair of models."""
    return paired_totals(values, np.asarray(clusters)).totals


def test_the_standard_error_as_worked_by_hand():
    # Differences 4 and 2 in cluster 0, 1 in cluster 1, -1 in cluster 2: t = 6, 1, -1; n = 2, 1, 1;
    # d = 6 / 4 = 1.5. Residuals t - n d: 3, -0.5, -2.5; shares 1/2, 1/4, 1/4.
    # SE^2 = (9 / (1/2) + (0.25 + 6.25) / (3/4)) / 4^2.
    values = np.array([[9.0, 7, 5, 4], [5, 5, 4, 5]])
    totals = differences(values, [0, 0, 1, 2])
    error = math.sqrt((18 + 6.5 * 4 / 3) / 16)
    assert mean_fit(totals).errors == pytest.approx([error])
    # t_{0.975} = 4.303 and t_{0.8} = 1.061 with 2 degrees of freedom; sqrt(3 / pi) / 3 = 0.3257 times
    # 4.303^2 / 3 + 1/6 = 6.338.
    (effect,) = power.minimum_detectable_effects(totals)
    assert effect == pytest.approx((4.3027 + 1.0607 + 2.0644) * error, rel=1e-4)
    # Macro: the standard error of the mean of 3, 1, -1, whose sample variance is 4.
    totals = differences(values, [0, 0, 1, 2]).of_cluster_means
    assert mean_fit(totals).errors == pytest.approx([math.sqrt(4 / 3)])


def test_more_power_a_stricter_test_and_fewer_clusters_need_a_larger_difference():
    values = np.random.default_rng(0).normal(size=(2, 30))
    error = stats.sem(values[0] - values[1])
    totals = differences(values, range(30))
    assert mean_fit(totals).errors == pytest.approx([error])
    assert power.minimum_detectable_effects(totals) == pytest.approx([power.factor(30) * error])
    assert power.factor(30, power=0.9) > power.factor(30) < power.factor(30, alpha=0.01)
    # z(0.975) + z(0.8) = 1.95996 + 0.84162 is what it nears.
    assert power.factor(10) > power.factor(30) > power.factor(110) > power.factor(10**6)
    assert power.factor(10**6) == pytest.approx(2.8016, abs=1e-4)


def test_so_many_clusters_show_the_difference_that_they_can_show():
    error = 8 / math.sqrt(50)
    needed = power.clusters_needed(error, 50, 2.0)
    enough, too_few = (power.factor(n) * 8 / math.sqrt(n) for n in (needed, needed - 1))
    assert enough <= 2 < too_few
    # Fewer than ten are only indicative, and a stricter test needs more.
    assert power.clusters_needed(error, 50, 50.0) == LEAST_CLUSTERS
    assert power.clusters_needed(error, 50, 2.0, alpha=0.05 / 10) > needed
    assert power.clusters_needed(error, 50, 1e-9) is None
    with pytest.raises(ValueError, match="above 0"):
        power.clusters_needed(error, 50, 0.0)


@pytest.mark.parametrize("n_clusters", [30, 110])
def test_the_range_of_the_error_has_the_true_one_in_95_of_100_pilots_of_ratings(n_clusters):
    generator = np.random.default_rng(3)
    # Three of ten dialogues differ, by 1 to 3: the variance is 0.3 * (1 + 4 + 9) / 3 = 1.4.
    shape = (4000, n_clusters)
    differences = generator.integers(1, 4, shape) * generator.choice([-1, 1], shape)
    differences *= generator.random(shape) < 0.3
    errors = stats.sem(differences, axis=1)
    low, high = np.array([power.error_range(error, n_clusters) for error in errors]).T
    truth = math.sqrt(1.4 / n_clusters)
    # The standard error of the share is sqrt(0.95 * 0.05 / 4000) = 0.0034.
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.012)


def test_fewer_than_two_clusters_have_no_effect():
    values = np.array([[1, 2, NAN, NAN], [3, 5, NAN, NAN], [NAN, NAN, 1, 2]])
    assert power.minimum_detectable_effects(differences(values, [0, 0, 1, 2])) == [None] * 3
    assert power.minimum_detectable_effects(differences(np.ones((1, 2)), range(2))) == []


@pytest.mark.parametrize(("deviation", "difference"), [(8, 2.0), (8, 4.0), (5, 5.0)])
def test_of_so_many_clusters_the_difference_is_found_in_eighty_of_a_hundred_releases(
    deviation, difference
):
    needed = power.clusters_needed(deviation, 1, difference)
    noise = np.random.default_rng(1).normal(difference, deviation, (1500, needed))
    found = p_values(ClusterTotals(noise, np.ones_like(noise)), np.full(1500, 90.0)) < 0.05
    # The standard error of the share is sqrt(0.8 * 0.2 / 1500) = 0.010.
    assert found.mean() == pytest.approx(0.8, abs=0.03)


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
        return needed_of_shifts(least, deviation, span=9, power=0.8, alpha=ALPHA, most=most)

    n = needed(0.45, 2.0)
    # ((z_{1 - alpha/2} + z_0.8) 2 / 0.45)^2 = 207 with known deviations.
    assert 207 < n < 212
    assert needed(0.45, 2.0, most=50) == 50
    # Shifts that hardly vary need as many as the interval of no shift.
    enough, too_few = (detectable(np.zeros(n), span=9, power=0.8, alpha=ALPHA) for n in (68, 67))
    assert needed(0.45, 0.001) == 68 and enough <= 0.45 < too_few
