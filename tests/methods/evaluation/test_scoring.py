"""From observations to scores: forms, subsets, intervals, and what two releases have in common."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation import score_estimates as estimating
from methods.evaluation.common_items import CommonScore, common_scores
from methods.evaluation.judging import ObservationStatus
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.score_estimates import weighted_estimates
from methods.evaluation.scoring import score_rows
from methods.evaluation.statistics.bootstrap import cluster_totals
from methods.evaluation.statistics.intervals import score_estimates
from tests.methods.evaluation.observed import ScoredObservation, frame, scored

MEAN = Mean(name="m", lowest=10, highest=100, scale=10)


def turn(item, number, value, status="judged", refused=False, **labels) -> ScoredObservation:
    return ScoredObservation(item, item, "plain", number, "m", value, status, refused, labels)


WHOLE = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, 4), turn("b", 2, 1, refused=True)]
LOSSY = [
    turn("a", 1, 9),
    turn("a", 2, None, "not_judged"),
    turn("b", 1, None, "truncated"),
    turn("b", 2, None, "not_asked"),
]


def rows(observed: dict, metrics=(MEAN,), with_lost: dict | None = None) -> dict:
    made = score_rows(metrics, frame(observed), with_lost and frame(with_lost))
    key = ("form", "subset_label", "subset_value", "model")
    return {tuple(row[name] for name in key): row for row in made}


def test_the_forms_of_a_score_and_every_turn_in_one_count() -> None:
    both = rows({"whole": WHOLE, "lossy": LOSSY})
    whole = {(form, model): row for (form, label, _, model), row in both.items() if not label}
    shown = {key: (row["value"], row["n_units"]) for key, row in whole.items()}
    assert shown == {
        ("floor", "whole"): (10 * (8 + 6 + 4 + 1) / 4, 4),
        # What the judge failed is neither a zero nor a unit.
        ("floor", "lossy"): ((90 + 10 + 10) / 3, 3),
        ("judged", "whole"): (10 * (8 + 6 + 4 + 1) / 4, 4),
        ("judged", "lossy"): (90, 1),
        # On what every model was judged on.
        ("common", "whole"): (80, 1),
        ("common", "lossy"): (90, 1),
    }
    row = both["floor", "", "", "lossy"]
    counts = {name: value for name, value in row.items() if name.startswith("n_")}
    assert counts == {
        **{"n_units": 3, "n_clusters": 2, "n_items": 2, "n_turns": 4, "n_judged": 1, "n_failed": 2},
        **{"n_refused": 0, "n_truncated": 1, "n_reasoning_only": 0, "n_empty": 0},
    }
    assert both["floor", "", "", "whole"]["n_refused"] == 1


@pytest.mark.parametrize("status", get_args(ObservationStatus)[1:])
def test_each_kind_of_missing_answer_is_the_lowest_value_or_nobodys(status: str) -> None:
    # 8 and 6 judged, of 10 to 100; what the model failed is 10, what others failed is no unit.
    observed = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, None, status)]
    row = rows({"model": observed})["floor", "", "", "model"]
    by_the_model = status not in ("not_judged", "no_reference", "no_picture")
    assert row["value"] == pytest.approx((80 + 60 + 10) / 3 if by_the_model else 70)
    assert row["n_units"] == 2 + by_the_model


def test_all_items_counts_what_was_not_asked_for_want_of_a_picture_as_lost() -> None:
    kept = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, None, "not_judged")]
    # One model was not asked, the other answered without looking.
    unasked, blind = turn("c", 1, None, "no_picture"), turn("c", 1, 4)
    with_lost = {"model": [*kept, unasked], "blind": [*kept, blind]}
    made = rows({"model": kept, "blind": kept}, with_lost=with_lost)
    assert made["floor", "", "", "model"]["value"] == 70
    row = made["all_items", "", "", "model"]
    assert row["value"] == pytest.approx((80 + 60 + 10) / 3)
    assert (row["n_units"], row["n_items"], row["n_turns"], row["n_failed"]) == (3, 3, 4, 2)
    assert made["all_items", "", "", "blind"]["value"] == 60
    # Where every picture is there, there is no such form.
    assert {form for form, *_ in rows({"model": kept})} == {"floor", "judged", "common"}


def test_a_metric_without_values_has_no_row_and_one_cluster_no_interval():
    dead = [turn("a", 1, None, "failed")]
    assert set(rows({"dead": dead})) == {("floor", "", "", "dead")}
    assert rows({"dead": [turn("a", 1, None, "not_judged")]}) == {}
    # The interval contains the value. One cluster gives no interval.
    both = rows({"whole": WHOLE, "one": [turn("a", 1, 5), turn("a", 2, 6)]})
    whole, one = both["floor", "", "", "whole"], both["floor", "", "", "one"]
    assert whole["ci_low"] <= whole["value"] <= whole["ci_high"]
    assert (one["ci_low"], one["ci_high"]) == (None, None)


def test_micro_means_are_split_by_labels_with_several_values() -> None:
    observed = [
        turn("a", 1, 8, category="x", language="en"),
        turn("b", 1, 4, category="y", language="en"),
        turn("b", 2, None, "failed", category="y", language="en"),
    ]
    made = rows({"m": observed})
    assert {key[1:3] for key in made} == {("", ""), ("category", "x"), ("category", "y")}
    assert made["floor", "category", "y", "m"]["value"] == (40 + 10) / 2
    assert made["judged", "category", "y", "m"]["value"] == 40
    assert made["floor", "category", "y", "m"]["n_turns"] == 2


def test_an_inverse_statistic_turns_its_interval_round() -> None:
    spread = GroupSpread(name="s", observation="m", lowest=4.5)
    grades = enumerate((4, 6, 2, 8, 5, 6))
    observed = [scored(f"i{n}", value, cluster="abc"[n // 2]) for n, value in grades]
    row = rows({"m": observed}, (spread,))["judged", "", "", "m"]
    # Deviations 1, 3 and 0.5: 3 / 4.5.
    assert row["value"] == pytest.approx(3 / 4.5)
    assert row["ci_low"] < row["value"] < row["ci_high"]


def test_neither_a_baseline_nor_who_answered_nothing_decides_what_is_common() -> None:
    dead = [turn("a", 1, None, "failed"), turn("a", 2, None, "failed")]
    made = rows({"whole": WHOLE, "dead": dead, "baseline:empty": [turn("a", 1, 1)]})
    common = {key[-1]: row["n_units"] for key, row in made.items() if key[0] == "common"}
    assert common == {"whole": 4, "baseline:empty": 1}


def test_a_model_with_one_value_of_a_label_is_split_as_the_others_are() -> None:
    both = [turn("a", 1, 8, kind="x"), turn("b", 1, 4, kind="y")]
    observed = {"both": both, "one": [turn("a", 1, 6, kind="x")]}
    split = {key[1:]: row["value"] for key, row in rows(observed).items() if key[0] == "floor"}
    assert split["kind", "x", "one"] == 60
    assert ("kind", "y", "one") not in split


ENDS = (0.0, 10.0)
NAMES = ["column", "place", "term", "cluster", "value", "stratum"]


def found_of(columns):
    rows = [
        {"column": number, "place": 0, "term": 0, **unit}
        for number, of in enumerate(columns)
        for unit in of
    ]
    table = pd.DataFrame(rows, columns=NAMES)
    found = weighted_estimates(table, [1.0], {0: ENDS}, ["column"])
    keys = ((number,) for number in range(len(columns)))
    return [found[key].estimate if key in found else None for key in keys]


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


def test_many_columns_are_worked_out_some_at_a_time(monkeypatch):
    rows = [units([number, 2, 3][: 2 + number % 2]) for number in range(7)]
    at_once = found_of(rows)
    monkeypatch.setattr(estimating, "CELLS_AT_ONCE", 6)
    for one, other in zip(found_of(rows), at_once, strict=True):
        assert vars(one) == pytest.approx(vars(other), abs=1e-6)


MACRO = replace(MEAN, aggregation="macro")
BY_TASK = replace(MEAN, aggregation="macro by task")

BEFORE = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, 4), turn("gone", 1, 1)]
AFTER = [turn("a", 1, 9), turn("a", 2, 6), turn("B", 1, 2), turn("new", 1, 10)]
ITEMS = {"a": "a", "b": "B"}


def common(metrics, before, after, items, **more) -> list[CommonScore]:
    sides = frame({"m": before}), frame({"m": after})
    return common_scores(metrics, *sides, items, same_calls=more.get("same_calls", False))


def numbers(metrics: list[Metric], *of: object) -> list[tuple[float, ...]]:
    names = ("before", "after", "difference", "n_items", "n_units")
    return [tuple(getattr(each, name) for name in names) for each in common(metrics, *of)]


def test_only_items_that_both_have_count_under_the_id_that_each_release_gives_them() -> None:
    micro, macro = numbers([MEAN, MACRO], BEFORE, AFTER, ITEMS)
    # (8 + 6 + 4) / 3 = 6 and (9 + 6 + 2) / 3 = 5.67
    assert micro == pytest.approx((60, 170 / 3, 170 / 3 - 60, 2, 3))
    # (7 + 4) / 2 = 5.5 and (7.5 + 2) / 2 = 4.75
    assert macro == pytest.approx((55, 47.5, -7.5, 2, 2))


def test_what_the_model_failed_is_the_lowest_value_and_what_the_judge_failed_is_left_out() -> None:
    failed = [turn("a", 1, None, "truncated"), turn("a", 2, 6), turn("b", 1, 4)]
    after = [turn("a", 1, 9), turn("a", 2, 6), turn("B", 1, None, "not_judged")]
    # Turns 1 and 2 of a: the lowest grade of 1 and 6, then 9 and 6.
    assert numbers([MEAN], failed, after, ITEMS) == [pytest.approx((35, 75, 40, 1, 2))]


def test_a_mean_by_label_has_the_labels_of_the_second_release_on_both_sides() -> None:
    before = [turn(each, 1, 5, task="old") for each in "abc"]
    after = [turn("a", 1, 9, task="x"), turn("b", 1, 9, task="x"), turn("c", 1, 3, task="y")]
    # Tasks alike: (9 + 3) / 2 = 6 against (5 + 5) / 2.
    (found,) = numbers([BY_TASK], before, after, {each: each for each in "abc"})
    assert found == pytest.approx((50, 60, 10, 3, 3))


def test_a_metric_of_which_nothing_is_common_is_left_out() -> None:
    other = Mean(name="Other", lowest=0, highest=1)
    assert numbers([other], BEFORE, AFTER, ITEMS) == []
    assert numbers([MEAN], BEFORE, AFTER, {}) == []
    assert numbers([MEAN], BEFORE, [], ITEMS) == []


def test_the_same_calls_differ_by_nothing_surely_and_equal_values_of_other_calls_by_chance():
    same = {each.item_id: each.item_id for each in BEFORE}
    (certain,) = common([MEAN], BEFORE, BEFORE, same, same_calls=True)
    assert (certain.difference, certain.ci_low, certain.ci_high) == (0, 0, 0)
    # Three dialogues on which two judgments agree do not show that they always do.
    (found,) = common([MEAN], BEFORE, BEFORE, same)
    assert found.difference == 0 and found.ci_low == pytest.approx(-found.ci_high)
    assert found.ci_high > 10
    # What differs keeps its interval whatever is said of its calls.
    differs = [common([MEAN], BEFORE, AFTER, ITEMS, same_calls=same) for same in (False, True)]
    assert differs[0] == differs[1] and differs[0][0].ci_low < differs[0][0].difference
