"""The minimum detectable effect: by hand."""

import math

import numpy as np
import pytest
from scipy import stats

from methods.evaluation.statistics.bootstrap import ClusterTotals, paired_totals
from methods.evaluation.statistics.estimates import LEAST_CLUSTERS
from methods.evaluation.statistics.intervals import mean_fit, p_values
from methods.evaluation.statistics.power import (
    clusters_needed,
    error_range,
    factor,
    minimum_detectable_effects,
)
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
    (effect,) = minimum_detectable_effects(totals)
    assert effect == pytest.approx((4.3027 + 1.0607 + 2.0644) * error, rel=1e-4)
    # Macro: the standard error of the mean of 3, 1, -1, whose sample variance is 4.
    totals = differences(values, [0, 0, 1, 2]).of_cluster_means
    assert mean_fit(totals).errors == pytest.approx([math.sqrt(4 / 3)])


def test_more_power_a_stricter_test_and_fewer_clusters_need_a_larger_difference():
    values = np.random.default_rng(0).normal(size=(2, 30))
    error = stats.sem(values[0] - values[1])
    totals = differences(values, range(30))
    assert mean_fit(totals).errors == pytest.approx([error])
    assert minimum_detectable_effects(totals) == pytest.approx([factor(30) * error])
    assert factor(30, power=0.9) > factor(30) < factor(30, alpha=0.01)
    # z(0.975) + z(0.8) = 1.95996 + 0.84162 is what it nears.
    assert factor(10) > factor(30) > factor(110) > factor(10**6)
    assert factor(10**6) == pytest.approx(2.8016, abs=1e-4)


def test_so_many_clusters_show_the_difference_that_they_can_show():
    error = 8 / math.sqrt(50)
    needed = clusters_needed(error, 50, 2.0)
    assert (
        factor(needed) * 8 / math.sqrt(needed) <= 2 < factor(needed - 1) * 8 / math.sqrt(needed - 1)
    )
    # Fewer than ten are only indicative, and a stricter test needs more.
    assert clusters_needed(error, 50, 50.0) == LEAST_CLUSTERS
    assert clusters_needed(error, 50, 2.0, alpha=0.05 / 10) > needed
    assert clusters_needed(error, 50, 1e-9) is None
    with pytest.raises(ValueError, match="above 0"):
        clusters_needed(error, 50, 0.0)


@pytest.mark.parametrize("n_clusters", [30, 110])
def test_the_range_of_the_error_has_the_true_one_in_95_of_100_pilots_of_ratings(n_clusters):
    generator = np.random.default_rng(3)
    # Three of ten dialogues differ, by 1 to 3: the variance is 0.3 * (1 + 4 + 9) / 3 = 1.4.
    shape = (4000, n_clusters)
    differences = generator.integers(1, 4, shape) * generator.choice([-1, 1], shape)
    differences *= generator.random(shape) < 0.3
    errors = stats.sem(differences, axis=1)
    low, high = np.array([error_range(error, n_clusters) for error in errors]).T
    truth = math.sqrt(1.4 / n_clusters)
    # The standard error of the share is sqrt(0.95 * 0.05 / 4000) = 0.0034.
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.95, abs=0.012)


def test_fewer_than_two_clusters_have_no_effect():
    values = np.array([[1, 2, NAN, NAN], [3, 5, NAN, NAN], [NAN, NAN, 1, 2]])
    assert minimum_detectable_effects(differences(values, [0, 0, 1, 2])) == [None] * 3
    assert minimum_detectable_effects(differences(np.ones((1, 2)), range(2))) == []


@pytest.mark.parametrize(("deviation", "difference"), [(8, 2.0), (8, 4.0), (5, 5.0)])
def test_of_so_many_clusters_the_difference_is_found_in_eighty_of_a_hundred_releases(
    deviation, difference
):
    needed = clusters_needed(deviation, 1, difference)
    noise = np.random.default_rng(1).normal(difference, deviation, (1500, needed))
    found = p_values(ClusterTotals(noise, np.ones_like(noise)), np.full(1500, 90.0)) < 0.05
    # The standard error of the share is sqrt(0.8 * 0.2 / 1500) = 0.010.
    assert found.mean() == pytest.approx(0.8, abs=0.03)
