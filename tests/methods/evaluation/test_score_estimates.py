"""Means with intervals: by hand, and the same as whole arrays have."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.evaluation import score_estimates as estimating
from methods.evaluation.score_estimates import weighted_estimates
from methods.evaluation.statistics.bootstrap import cluster_totals
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.intervals import score_estimates

ENDS = (0.0, 10.0)
NAMES = ["column", "place", "term", "cluster", "value", "stratum"]


def found_of(columns):
    """The estimate of each column, which is a list of units."""
    rows = [
        {"column": number, "place": 0, "term": 0, **unit}
        for number, of in enumerate(columns)
        for unit in of
    ]
    found = weighted_estimates(
        pd.DataFrame(rows, columns=NAMES),
        [1.0],
        {0: ENDS},
        ["column"],
    )
    return [
        found[number,].estimate if (number,) in found else None for number in range(len(columns))
    ]


def units(values, stratum=0):
    """A unit for each value, in the cluster of its place; None is no value."""
    return [
        {"cluster": f"c{place}", "value": float(value), "stratum": stratum}
        for place, value in enumerate(values)
        if value is not None
    ]


columns = st.lists(
    st.lists(st.none() | st.integers(0, 10), min_size=4, max_size=4), min_size=1, max_size=6
)


@given(columns)
@settings(max_examples=60, deadline=None)
def test_columns_have_the_intervals_that_whole_arrays_have(columns):
    array = np.array([[np.nan if value is None else value for value in row] for row in columns])
    ends = np.full(len(columns), ENDS[0]), np.full(len(columns), ENDS[1])
    expected = score_estimates(cluster_totals(array, np.arange(4)), *ends)
    for one, other in zip(found_of([units(row) for row in columns]), expected, strict=True):
        if one is None:
            assert other.value is None
        else:
            assert vars(one) == pytest.approx(vars(other), abs=1e-6)


def test_the_mean_of_strata_is_of_their_means_and_its_error_of_what_differs_within_them():
    # Two strata: (1 + 3) / 2 = 2 and 8; their mean is 5. That they are apart is no error.
    apart = [*units([1, 3], 0), *units([None, None, 8, 8], 1)]
    close = [*units([1, 3], 0), *units([None, None, 4, 4], 1)]
    far, near = found_of([apart, close])
    assert (far.value, near.value, far.n_clusters) == (5, 3, 4)
    assert far.ci_low < 5 < far.ci_high
    # A micro mean of the same units: its clusters are 5 apart.
    (micro,) = found_of([units([1, 3, 8, 8])])
    assert micro.ci_high - micro.ci_low > far.ci_high - far.ci_low


def test_a_column_without_units_has_no_mean_and_one_cluster_no_interval():
    assert found_of([[], units([4])]) == [None, Estimate(4.0, None, None, 1)]


def test_many_columns_are_worked_out_some_at_a_time(monkeypatch):
    rows = [units([number, 2, 3][: 2 + number % 2]) for number in range(7)]
    at_once = found_of(rows)
    monkeypatch.setattr(estimating, "CELLS_AT_ONCE", 6)
    for one, other in zip(found_of(rows), at_once, strict=True):
        assert vars(one) == pytest.approx(vars(other), abs=1e-6)
