"""Packed columns: by hand, and the same as the bootstrap of whole arrays draws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.evaluation import columns as packing
from methods.evaluation.columns import Columns, estimate
from methods.evaluation.metrics import Unit
from methods.evaluation.statistics.estimates import Estimate
from methods.evaluation.statistics.resampling import cluster_bootstrap

DRAWN = {"seed": 0, "n_resamples": 200}


def units(values, stratum=""):
    """A unit for each value, in the cluster of its place; None is no value."""
    return [
        Unit((place,), f"c{place}", value, stratum)
        for place, value in enumerate(values)
        if value is not None
    ]


columns = st.lists(
    st.lists(st.none() | st.integers(0, 10), min_size=4, max_size=4), min_size=1, max_size=6
)


@given(columns, st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_columns_have_the_intervals_that_whole_arrays_have(columns, seed):
    # A row of ones has every cluster, so that both draw from the same.
    given = [[1, 1, 1, 1], *columns]
    of = {"seed": seed, "n_resamples": 200}
    array = np.array([[np.nan if value is None else value for value in row] for row in given])
    expected = cluster_bootstrap(array, np.arange(4), "micro", **of)

    assert estimate([units(row) for row in given], **of) == [
        Estimate(*(None if end is None else pytest.approx(end) for end in vars(each).values()))
        for each in expected
    ]


@given(columns)
@settings(max_examples=30, deadline=None)
def test_neither_the_order_nor_the_parts_change_an_interval(columns):
    forward, backward, in_parts = Columns(), Columns(), Columns()
    for number, row in enumerate(columns):
        forward.add(units(row))
        in_parts.add(units(row), number)
    for row in reversed(columns):
        backward.add(units(row))

    found = forward.estimates(**DRAWN)
    assert found == backward.estimates(**DRAWN)[::-1]
    assert found == in_parts.estimates(**DRAWN)


def test_the_mean_of_strata_is_of_their_means():
    # Two strata: (1 + 3) / 2 = 2 and 8; their mean is 5.
    (found,) = estimate([[*units([1, 3], "a"), *units([None, None, 8, None], "b")]], **DRAWN)
    assert found.value == 5 and found.ci_low >= 1 and found.ci_high <= 8


def test_a_column_without_units_has_no_mean_and_one_cluster_no_interval():
    assert estimate([[], units([4])], **DRAWN) == [
        Estimate(None, None, None),
        Estimate(4.0, None, None),
    ]


def test_equal_columns_are_kept_once(monkeypatch):
    packed = Columns()
    for _ in range(5):
        packed.add(units([1, 2, 3]))
    packed.add(units([1, 2, 4]))

    resampled = []
    whole = packing._estimates
    monkeypatch.setattr(
        packing,
        "_estimates",
        lambda some, *a, **k: resampled.append(len(some)) or whole(some, *a, **k),
    )
    found = packed.estimates(**DRAWN)
    assert resampled == [2] and found[:5] == [found[0]] * 5 and found[5].value == 7 / 3


def test_many_columns_are_resampled_some_at_a_time(monkeypatch):
    rows = [units([number, 2, 3]) for number in range(7)]
    at_once = estimate(rows, **DRAWN)
    monkeypatch.setattr(packing, "AT_ONCE", 2)
    monkeypatch.setattr(packing, "SORTED_AT_ONCE", 1)
    assert estimate(rows, **DRAWN) == at_once
