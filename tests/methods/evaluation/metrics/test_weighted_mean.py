"""The weighted mean of several metrics of one model, worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.convbench.scores import R1, R2, WIN_RATES
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.metrics.weighted_mean import WeightedMean
from tests.methods.evaluation.metrics.numbers import number, scored, values

TURNS = ((1, "Perception"), (2, "Reasoning"), (3, "Creation"), (3, "Overall"))
A, B = (Mean(name=name, lowest=0, highest=10) for name in "ab")
MEAN = WeightedMean(name="m", lowest=0, highest=10, parts=[(A, 1), (B, 3)])


def item(name: str, *wins: float | None) -> list:
    """Both orders of each comparison of an item; a win is half of two orders that disagree."""
    return [
        scored(name, value, turn=turn, metric=metric)
        for (turn, metric), win in zip(TURNS, wins, strict=True)
        for value in ((win, win) if win != 0.5 else (1, 0))
    ]


def test_r2_is_the_mean_of_three_turns_and_r1_that_of_it_and_the_conversation() -> None:
    observed = [*item("a", 1, 0, 0.5, 1), *item("b", 1, 1, 0, 0)]
    # S1 = 100, S2 = 50, S3 = 25, SO = 50; R2 = 175 / 3; R1 = (58.33 + 50) / 2.
    assert [number(WIN_RATES[name], observed) for name in ("S1", "S2", "S3", "SO")] == [
        *(100, 50, 25, 50)
    ]
    assert values(R2, observed) == {("a",): 50, ("b",): pytest.approx(200 / 3)}
    assert number(R2, observed) == pytest.approx(175 / 3)
    assert values(R1, observed) == {("a",): 75, ("b",): pytest.approx(100 / 3)}
    assert number(R1, observed) == pytest.approx(54.1667, abs=1e-4)


def test_weights_count() -> None:
    observed = [scored("x", 2, metric="a"), scored("x", 6, metric="b")]
    assert values(MEAN, observed) == {("x",): 5}


def test_an_item_that_lacks_a_part_has_no_value() -> None:
    observed = [*item("a", 1, 1, 1, 1), scored("b", 1, metric="Perception")]
    assert values(R2, observed) == {("a",): 100, ("b",): None}


def test_what_the_model_failed_counts_at_the_floor_and_the_rest_as_it_is() -> None:
    observed = item("a", 1, None, None, None)
    assert values(R2, observed, floor=True) == {("a",): pytest.approx(100 / 3)}
    assert values(R2, observed) == {("a",): None}


@given(st.lists(st.tuples(*[st.sampled_from([0, 0.5, 1])] * 4), min_size=1, max_size=8))
def test_without_losses_it_is_the_mean_of_the_metrics_own_scores(wins: list) -> None:
    observed = [each for place, of in enumerate(wins) for each in item(str(place), *of)]
    s1, s2, s3, so = (number(WIN_RATES[name], observed) for name in ("S1", "S2", "S3", "SO"))
    assert number(R2, observed) == pytest.approx((s1 + s2 + s3) / 3)
    assert number(R1, observed) == pytest.approx(((s1 + s2 + s3) / 3 + so) / 2)
