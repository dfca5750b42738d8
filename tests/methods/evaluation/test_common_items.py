"""Scores on what two releases have in common, worked by hand."""

import pytest

from methods.evaluation.common_items import CommonScore, common_scores
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from tests.methods.evaluation.observed import ScoredObservation, frame

MICRO = Mean(name="Overall", lowest=10, highest=100, scale=10)
MACRO = Mean(name="Overall", lowest=10, highest=100, scale=10, aggregation="macro")
BY_TASK = Mean(name="Overall", lowest=10, highest=100, scale=10, aggregation="macro by task")


def scored(item: str, turn: int, value: float | None, status: str = "", **labels: str):
    """One observation; without a value the model gave no answer."""
    status = status or ("judged" if value is not None else "truncated")
    return ScoredObservation(
        item, item, "plain", turn, "Overall", value, status=status, labels=labels
    )


BEFORE = [scored("a", 1, 8), scored("a", 2, 6), scored("b", 1, 4), scored("gone", 1, 1)]
AFTER = [scored("a", 1, 9), scored("a", 2, 6), scored("B", 1, 2), scored("new", 1, 10)]
ITEMS = {"a": "a", "b": "B"}


def common(metrics, before, after, items, **more) -> list[CommonScore]:
    sides = frame({"m": before}), frame({"m": after})
    return common_scores(metrics, *sides, items, same_calls=more.get("same_calls", False))


def numbers(metrics: list[Metric], *of: object) -> list[tuple[float, ...]]:
    return [
        (each.before, each.after, each.difference, each.n_items, each.n_units)
        for each in common(metrics, *of)
    ]


def test_only_items_that_both_have_count_under_the_id_that_each_release_gives_them() -> None:
    micro, macro = numbers([MICRO, MACRO], BEFORE, AFTER, ITEMS)
    # (8 + 6 + 4) / 3 = 6 and (9 + 6 + 2) / 3 = 5.67
    assert micro == pytest.approx((60, 170 / 3, 170 / 3 - 60, 2, 3))
    # (7 + 4) / 2 = 5.5 and (7.5 + 2) / 2 = 4.75
    assert macro == pytest.approx((55, 47.5, -7.5, 2, 2))


def test_what_the_model_failed_is_the_lowest_value_and_what_the_judge_failed_is_left_out() -> None:
    failed = [scored("a", 1, None), scored("a", 2, 6), scored("b", 1, 4)]
    after = [scored("a", 1, 9), scored("a", 2, 6), scored("B", 1, None, status="not_judged")]
    # Turns 1 and 2 of a: the lowest grade of 1 and 6, then 9 and 6.
    assert numbers([MICRO], failed, after, ITEMS) == [pytest.approx((35, 75, 40, 1, 2))]


def test_a_mean_by_label_has_the_labels_of_the_second_release_on_both_sides() -> None:
    before = [scored(each, 1, 5, task="old") for each in "abc"]
    after = [scored("a", 1, 9, task="x"), scored("b", 1, 9, task="x"), scored("c", 1, 3, task="y")]
    # Tasks alike: (9 + 3) / 2 = 6 against (5 + 5) / 2.
    (found,) = numbers([BY_TASK], before, after, {each: each for each in "abc"})
    assert found == pytest.approx((50, 60, 10, 3, 3))


def test_a_metric_of_which_nothing_is_common_is_left_out() -> None:
    other = Mean(name="Other", lowest=0, highest=1)
    assert numbers([other], BEFORE, AFTER, ITEMS) == []
    assert numbers([MICRO], BEFORE, AFTER, {}) == []
    assert numbers([MICRO], BEFORE, [], ITEMS) == []


def test_the_same_calls_differ_by_nothing_surely_and_equal_values_of_other_calls_by_chance():
    same = {each.item_id: each.item_id for each in BEFORE}
    (certain,) = common([MICRO], BEFORE, BEFORE, same, same_calls=True)
    assert (certain.difference, certain.ci_low, certain.ci_high) == (0, 0, 0)
    # Three dialogues on which two judgments agree do not show that they always do.
    (found,) = common([MICRO], BEFORE, BEFORE, same)
    assert found.difference == 0 and found.ci_low == pytest.approx(-found.ci_high)
    assert found.ci_high > 10
    # What differs keeps its interval whatever is said of its calls.
    differs = [common([MICRO], BEFORE, AFTER, ITEMS, same_calls=same) for same in (False, True)]
    assert differs[0] == differs[1] and differs[0][0].ci_low < differs[0][0].difference
