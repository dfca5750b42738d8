"""Means of many models with intervals from one set of drawn clusters, and weighted sums of them."""

import numpy as np
import pytest
from scipy import stats

from methods.evaluation.statistics import bootstrap
from methods.evaluation.statistics.bootstrap import (
    ClusterTotals,
    bootstrap_means,
    cluster_totals,
    paired_totals,
    percentile_estimates,
    resampled_sums,
)
from methods.evaluation.statistics.estimates import PERCENTILES, Estimate
from methods.evaluation.statistics.intervals import mean_fit
from methods.evaluation.statistics.weighted_sums import weighted_sum
from tests.methods.evaluation.statistics.matrices import NAN


def test_totals_and_the_two_means_as_worked_by_hand():
    # Model 0: cluster 7 has 80, 60, 40, cluster 3 has 20. Model 1 lacks 60 and 20.
    values = np.array([[80, 20, 60, 40], [80, NAN, NAN, 40]])
    totals = cluster_totals(values, np.array([7, 3, 7, 7]))
    assert totals.sums.tolist() == [[20, 180], [0, 120]]
    assert totals.sizes.tolist() == [[1, 3], [0, 2]]
    # Micro: 200 / 4 and 120 / 2. Macro: (20 + 60) / 2 and 60 / 1.
    assert totals.means.tolist() == [50, 60]
    assert totals.of_cluster_means.means.tolist() == [40, 60]
    assert totals.of_cluster_means.n_clusters.tolist() == [2, 1]


def test_differences_are_on_the_units_that_both_models_have():
    values = np.array([[5, 5, 5, NAN], [1, NAN, 3, 4], [NAN, NAN, 2, 2]])
    pairs, totals = paired_totals(values, np.array([0, 0, 1, 1]))
    assert pairs == [(0, 1), (0, 2), (1, 2)]
    assert totals.sums.tolist() == [[4, 2], [0, 3], [0, 1 + 2]]
    assert totals.sizes.tolist() == [[1, 1], [0, 1], [0, 2]]


def test_the_interval_of_a_ratio_is_that_of_scipy():
    generator = np.random.default_rng(5)
    values = generator.normal(60, 10, (2, 200))
    clusters = np.sort(generator.integers(0, 50, 200))
    _, paired = paired_totals(values, clusters)
    scipys = stats.bootstrap(
        (paired.sums[0], paired.sizes[0]),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        method="percentile",
        n_resamples=10_000,
        rng=np.random.default_rng(0),
    )
    low, high = np.percentile(bootstrap_means(paired, seed=0)[0], [2.5, 97.5])
    assert (low, high) == pytest.approx(tuple(scipys.confidence_interval), abs=0.08)


def test_models_share_the_draws_so_the_difference_of_resampled_means_is_that_of_the_pair():
    values = np.random.default_rng(0).normal(50, 10, (2, 60))
    clusters = np.repeat(np.arange(12), 5)
    one, other = bootstrap_means(cluster_totals(values, clusters), seed=4, n_resamples=50)
    _, paired = paired_totals(values, clusters)
    assert one - other == pytest.approx(bootstrap_means(paired, seed=4, n_resamples=50)[0])


@pytest.mark.parametrize("cells", [1, 7, 64, 10_000])
def test_how_many_resamples_are_in_memory_at_once_changes_nothing(monkeypatch, cells):
    sums = np.random.default_rng(0).random((3, 7))
    wanted = resampled_sums(sums, seed=2, n_resamples=101)
    monkeypatch.setattr(bootstrap, "CELLS", cells)
    assert resampled_sums(sums, seed=2, n_resamples=101) == pytest.approx(wanted)


def test_percentiles_of_sixteen_clusters_as_worked_by_hand():
    # Eight clusters at 0 and eight at 100. A resample draws k at 100, k ~ Bin(16, 1/2), and has the
    # mean 100 k / 16. P(k <= 3) = 0.011 < 0.025 < 0.038 = P(k <= 4): the 2.5 % point is k = 4, a
    # mean of 25, and by symmetry the 97.5 % point is k = 12, a mean of 75.
    totals = cluster_totals(np.array([[0.0] * 8 + [100.0] * 8]), np.arange(16))
    drawn = bootstrap_means(totals, seed=0)
    (found,) = percentile_estimates(totals.means, drawn, totals.n_clusters)
    assert found == Estimate(50, 25, 75, 16, PERCENTILES)


def totals(values: list[float]) -> ClusterTotals:
    """A value in each cluster, or none."""
    row = np.array([values], dtype=float)
    return ClusterTotals(np.nan_to_num(row), (~np.isnan(row)).astype(float))


def test_it_is_the_formula_over_the_means_of_the_same_or_other_units():
    found = weighted_sum([0.5, 0.5], [totals([4, 8, 6]), totals([0, 2, 4])])
    assert found.sums.tolist() == [[2, 5, 5]] and found.sizes.tolist() == [[1, 1, 1]]
    # Of other units it is the formula over the means.
    found = weighted_sum([0.5, 0.5], [totals([4, NAN, 6]), totals([0, 2, NAN])])
    assert found.means == pytest.approx([(5 + 1) / 2])
    assert found.n_clusters == 3
    # A row without one of the means has none.
    found = weighted_sum([1, -1], [totals([4, 5]), totals([NAN, NAN])])
    assert np.isnan(found.means).all() and not found.sizes.any()


def test_its_error_is_that_of_the_jackknife() -> None:
    draw = np.random.default_rng(0)
    both = draw.normal(50, 20, size=(2, 60)) + draw.normal(0, 20, size=60)
    both[draw.random((2, 60)) < 0.15] = NAN

    def formula(of: np.ndarray) -> float:
        first, second = np.nanmean(of, axis=1)
        return first - second

    without = [formula(np.delete(both, place, axis=1)) for place in range(60)]
    jackknife = np.sqrt(59 * np.var(without))
    whole = weighted_sum([1, -1], [totals(row) for row in both.tolist()])
    assert mean_fit(whole).errors == pytest.approx([jackknife], rel=0.03)
