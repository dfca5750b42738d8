"""Alignment score, worked by hand: N / sum of the standard deviations in groups."""

import math

import pytest

from methods.evaluation.metrics.group_spread import GroupSpread, ShareOverBand
from tests.methods.evaluation.metrics.numbers import number, scored, values

SPREAD = GroupSpread(name="alignment", observation="m", lowest=4.5)
"""Of ratings from 1 to 10."""


def group(name: str, *ratings: float | None) -> list:
    return [scored(f"{name}{k}", value, cluster=name) for k, value in enumerate(ratings)]


def test_it_is_the_inverse_of_the_mean_deviation_of_groups_of_two_or_more():
    # Standard deviations 1 (of 4 and 6) and 3 (of 2 and 8): 2 / (1 + 3).
    assert number(SPREAD, [*group("a", 4, 6), *group("b", 2, 8)]) == pytest.approx(0.5)
    # A group of one says nothing.
    assert values(SPREAD, [*group("a", 4, 6), *group("b", 2)]) == {("a",): 1}
    # All equal is infinite.
    assert number(SPREAD, group("a", 5, 5)) == math.inf
    # A group with a failed item has the largest deviation at the floor.
    observed = group("a", 5, 5, None)
    assert values(SPREAD, observed) == {("a",): 0}
    assert values(SPREAD, observed, floor=True) == {("a",): 4.5}
    # Turns of one item are no group.
    turns = [scored("a", 4, cluster="a", turn=1), scored("a", 6, cluster="a", turn=2)]
    assert values(SPREAD, turns) == {}


DEVIATION = GroupSpread(
    name="deviation", observation="m", lowest=4.5, inverse=False, higher_is_better=False
)
OVER = ShareOverBand(name="over", observation="m", bands=((1, 2), (3, 5), (6, 8), (9, 10)))


def test_the_mean_deviation_is_zero_and_the_share_over_a_band_counts_a_failed_group():
    assert number(DEVIATION, [*group("a", 4, 6), *group("b", 2, 8)]) == 2
    assert number(DEVIATION, group("a", 5, 5)) == 0
    # The share over a band counts a failed group at the floor.
    observed = [*group("a", 3, 4), *group("b", 3, None), *group("c", 1, 9)]
    assert number(OVER, observed) == pytest.approx(50)
    assert values(OVER, observed, floor=True) == {("a",): 0, ("b",): 100, ("c",): 100}


@pytest.mark.parametrize(
    ("ratings", "value"),
    [
        ((3, 4, 5), 0.0),
        ((5, 6), 100.0),
        ((9, 10), 0.0),
        ((2, 3), 100.0),
        # Means of replicates between two bands belong to the lower one.
        ((2.5, 2), 0.0),
        ((5.5, 5), 0.0),
        ((5.5, 6), 100.0),
    ],
)
def test_a_group_is_over_a_band_where_its_scores_lie_in_several(ratings, value):
    assert values(OVER, group("a", *ratings)) == {("a",): value}
