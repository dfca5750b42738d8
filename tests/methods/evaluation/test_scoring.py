"""From observations to scores: three forms, subsets, counts, worked by hand."""

from typing import get_args

import pytest

from methods.evaluation.judging import ObservationStatus
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.scoring import score_rows
from tests.methods.evaluation.observed import ScoredObservation, frame

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
    return {
        (row["form"], row["subset_label"], row["subset_value"], row["model"]): row for row in made
    }


@pytest.fixture
def both() -> dict:
    return rows({"whole": WHOLE, "lossy": LOSSY})


def test_the_forms_of_a_score(both) -> None:
    shown = {
        (form, model): (row["value"], row["n_units"])
        for (form, label, _, model), row in both.items()
        if not label
    }
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


@pytest.mark.parametrize("status", get_args(ObservationStatus)[1:])
def test_each_kind_of_missing_answer_is_the_lowest_value_or_nobodys(status: str) -> None:
    # 8 and 6 judged, of 10 to 100; what the model failed is 10, what others failed is no unit.
    scored = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, None, status)]
    row = rows({"model": scored})["floor", "", "", "model"]
    by_the_model = status not in ("not_judged", "no_reference", "no_picture")
    assert row["value"] == pytest.approx((80 + 60 + 10) / 3 if by_the_model else 70)
    assert row["n_units"] == 2 + by_the_model


def test_all_items_counts_what_was_not_asked_for_want_of_a_picture_as_lost() -> None:
    kept = [turn("a", 1, 8), turn("a", 2, 6), turn("b", 1, None, "not_judged")]
    # One model was not asked, the other answered without looking.
    unasked, blind = turn("c", 1, None, "no_picture"), turn("c", 1, 4)
    made = rows(
        {"model": kept, "blind": kept},
        with_lost={"model": [*kept, unasked], "blind": [*kept, blind]},
    )
    assert made["floor", "", "", "model"]["value"] == 70
    row = made["all_items", "", "", "model"]
    assert row["value"] == pytest.approx((80 + 60 + 10) / 3)
    assert (row["n_units"], row["n_items"], row["n_turns"], row["n_failed"]) == (3, 3, 4, 2)
    assert made["all_items", "", "", "blind"]["value"] == 60
    # Where every picture is there, there is no such form.
    assert {form for form, *_ in rows({"model": kept})} == {"floor", "judged", "common"}


def test_every_turn_is_in_one_count(both) -> None:
    row = both["floor", "", "", "lossy"]
    counts = {name: value for name, value in row.items() if name.startswith("n_")}
    assert counts == {
        **{"n_units": 3, "n_clusters": 2, "n_items": 2, "n_turns": 4, "n_judged": 1, "n_failed": 2},
        **{"n_refused": 0, "n_truncated": 1, "n_reasoning_only": 0, "n_empty": 0},
    }
    assert both["floor", "", "", "whole"]["n_refused"] == 1


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
    observed = [
        ScoredObservation(f"i{n}", "abc"[n // 2], "plain", 1, "m", value)
        for n, value in enumerate((4, 6, 2, 8, 5, 6))
    ]
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
    observed = {
        "both": [turn("a", 1, 8, kind="x"), turn("b", 1, 4, kind="y")],
        "one": [turn("a", 1, 6, kind="x")],
    }
    split = {key[1:]: row["value"] for key, row in rows(observed).items() if key[0] == "floor"}
    assert split["kind", "x", "one"] == 60
    assert ("kind", "y", "one") not in split
