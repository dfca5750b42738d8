"""Baselines of a release, worked by hand."""

import pytest

from methods.choice.baselines import (
    most_frequent_accuracy,
    most_frequent_letter,
    random_accuracy,
    random_circular,
)
from tests.methods.choice.questions import item

ITEMS = [
    item("A", "w", "x"),
    item("B", "w", "x", "y", "z"),
    item("B", "w", "x", "y", "z"),
    item("D", "w", "x", "y", "z"),
    item(None, "w", "x", "y", "z"),
]


def test_a_random_letter_is_right_once_in_as_many_choices_as_there_are() -> None:
    # 1/2 and four times 1/4: 1.5 of five.
    assert random_accuracy(ITEMS) == pytest.approx(30)


def test_random_letters_are_hardly_ever_right_in_every_pass() -> None:
    # 1/4 and four times 1/256, of five.
    assert random_circular(ITEMS) == pytest.approx(100 * (1 / 4 + 4 / 256) / 5)


def test_the_most_frequent_letter_is_right_as_often_as_it_is_the_key() -> None:
    assert most_frequent_letter(ITEMS) == "B"
    # Two of the four whose key is known.
    assert most_frequent_accuracy(ITEMS) == pytest.approx(50)


def test_of_letters_that_are_as_frequent_the_first_is_taken() -> None:
    assert most_frequent_letter([item("C", "x", "y", "z"), item("B", "x", "y")]) == "B"


def test_without_items_or_keys_there_is_none() -> None:
    assert random_accuracy([]) is None and random_circular([]) is None
    assert most_frequent_accuracy([item(None, "x", "y")]) is None
