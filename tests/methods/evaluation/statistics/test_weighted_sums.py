"""Weighted sums of means over the same clusters, by hand and against the jackknife."""

import numpy as np
import pytest

from methods.evaluation.statistics.bootstrap import ClusterTotals
from methods.evaluation.statistics.intervals import mean_fit
from methods.evaluation.statistics.weighted_sums import weighted_sum

NAN = np.nan


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
