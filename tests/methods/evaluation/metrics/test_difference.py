"""The difference of two metrics, unit by unit."""

import pytest

from methods.evaluation.metrics.difference import difference
from methods.evaluation.metrics.mean import Mean
from tests.methods.evaluation.metrics.numbers import number, scored, values


def mean(trial: str) -> Mean:
    return Mean(name=trial, observation="m", trial=trial, lowest=0, highest=100, scale=10)


GAIN = difference("perception", mean("perfect"), mean("plain"))
OBSERVED = [
    scored("a", 7, trial="perfect"),
    scored("a", 5),
    scored("b", 9, trial="perfect"),
    scored("c", 1),
]


def test_a_unit_is_the_difference_of_the_units_that_both_have() -> None:
    assert values(GAIN, OBSERVED) == {("a", 1): 20}
    assert number(GAIN, OBSERVED) == 20


def test_what_the_model_failed_in_both_is_no_difference() -> None:
    observed = [scored("a", None, trial="perfect"), scored("a", None)]
    assert values(GAIN, observed) == {("a", 1): None}
    assert values(GAIN, observed, floor=True) == {("a", 1): 0}


def test_what_the_model_failed_in_one_of_them_is_the_worst_difference() -> None:
    observed = [scored("a", None, trial="perfect"), scored("a", 5)]
    assert values(GAIN, observed) == {("a", 1): None}
    # The difference is better the smaller it is.
    assert values(GAIN, observed, floor=True) == {("a", 1): 100}


def test_metrics_of_different_units_have_no_difference() -> None:
    items = Mean(name="m", trial="plain", lowest=0, highest=100, aggregation="macro")
    with pytest.raises(ValueError, match="average different units"):
        values(difference("d", mean("perfect"), items), OBSERVED)


def test_a_model_without_an_item_in_both_has_no_difference_and_no_error() -> None:
    # It lost the first item with perfect perception, and the second without.
    observed = [scored("a", 5), scored("b", 7, trial="perfect")]
    assert values(GAIN, observed) == values(GAIN, observed, floor=True) == {}


def test_its_range_follows_from_theirs() -> None:
    assert (GAIN.lowest, GAIN.highest, GAIN.aggregation) == (100, -100, "micro")
    assert not GAIN.higher_is_better
