"""Micro and macro means, worked by hand."""

from dataclasses import replace

import numpy as np
import pytest

from methods.evaluation.metrics.mean import Mean, MeanOrRefused
from methods.evaluation.metrics.units import UnitMatrix, means, units_of, weighted_by_stratum
from tests.methods.evaluation.metrics.numbers import number, scored, values
from tests.methods.evaluation.observed import frame

GRADES = [
    scored("a", 4, turn=1, category="x"),
    scored("a", 8, turn=2, category="x"),
    scored("b", 9, category="y"),
    scored("b", None, turn=2, category="y"),
    scored("c", 1, metric="other", category="y"),
]


def mean(aggregation: str = "micro", **more) -> Mean:
    return Mean(name="m", lowest=10, highest=100, scale=10, aggregation=aggregation, **more)


def test_micro_is_over_turns_and_macro_over_the_means_of_items_or_of_values_of_a_label():
    assert number(mean(), GRADES) == 10 * (4 + 8 + 9) / 3
    # Macro is over the means of items.
    assert number(mean("macro"), GRADES) == 10 * ((4 + 8) / 2 + 9) / 2
    # Macro by a label is over the means of its values.
    more = [*GRADES, scored("d", 3, category="y")]
    assert number(mean("macro by category"), more) == 10 * ((4 + 8) / 2 + (9 + 3) / 2) / 2


def test_the_means_of_all_models_weigh_the_values_of_a_label_alike() -> None:
    by_category = mean("macro by category")
    units = units_of({0: by_category}, frame({"m": GRADES}), floor=False)
    assert means(units, by_category.weights)["m"] == 10 * ((4 + 8) / 2 + 9) / 2


def test_what_failed_counts_as_the_lowest_value_at_the_floor_and_has_none_otherwise() -> None:
    assert number(mean(), GRADES, floor=True) == (40 + 80 + 90 + 10) / 4
    assert number(mean("macro"), GRADES, floor=True) == ((40 + 80) / 2 + (90 + 10) / 2) / 2
    assert values(mean(), GRADES)["b", 2] is None


def test_several_observations_of_a_turn_are_averaged_first_and_others_left_out():
    assert values(mean(), [scored("a", 2), scored("a", 6)]) == {("a", 1): 40}
    # Other observations and other trials are left out.
    observed = [scored("a", 5), scored("b", 1, trial="no-images"), scored("c", 1, metric="other")]
    assert values(mean(), observed) == {("a", 1): 50}
    assert values(mean(trial="no-images"), observed) == {("b", 1): 10}


def test_the_upper_bound_takes_what_was_declined_for_the_best() -> None:
    bound = MeanOrRefused(name="m", lowest=10, highest=100, scale=10)
    # Declined in words, and judged; declined by a filter, and without a value.
    in_words = replace(scored("d", 1), refused=True)
    by_filter = replace(scored("e", None), refused=True, status="refused")
    declined = [*GRADES, in_words, by_filter]
    assert number(bound, declined, floor=True) == (40 + 80 + 90 + 10 + 100 + 100) / 6
    assert number(mean(), declined, floor=True) == (40 + 80 + 90 + 10 + 10 + 10) / 6
    assert bound.refusals_are_right and not mean().refusals_are_right


def test_weights_of_strata_are_no_differences_between_units() -> None:
    # Two strata of three units and one: w = 4 / (2 * 3) = 2/3 and 4 / (2 * 1) = 2. The mean of the
    # strata's means is m = (2 + 10) / 2 = 6; 1 becomes 6 + 2/3 (1 - 6) = 2.667, and 10 becomes 14.
    values = np.array([[1.0, 2, 3, 10], [5, 5, 5, 5]])
    matrix = UnitMatrix(values, np.arange(4), np.array([0, 0, 0, 1]))
    weighted, equal = weighted_by_stratum(matrix).values
    assert weighted == pytest.approx([2.6667, 3.3333, 4, 14], abs=1e-4)
    assert weighted.mean() == pytest.approx(6)
    assert equal == pytest.approx([5, 5, 5, 5])
