"""Differences between two languages, by hand: what is a pair, what is left out, what is tested."""

from collections.abc import Mapping

import pytest
from scipy import stats

from methods.evaluation.findings import Finding
from methods.evaluation.items import Item, Turn
from methods.evaluation.language_gaps import (
    ItemPairing,
    ReleaseObservations,
    language_gap_findings,
    paired_items,
)
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.statistics.estimates import PAIRED_T
from tests.methods.evaluation.metrics.numbers import scored
from tests.methods.evaluation.observed import ScoredObservation, frame

RIGHT = AllRight(name="Right", observation="right", trials="plain", n_passes=1)
LABELS = {"a": "seeing", "b": "seeing", "c": "reasoning", "d": "reasoning"}


def item(name: str, *, image: str = "p", choices: int = 2, key: str | None = "A") -> Item:
    turn = Turn(1, f"Question {name}", (1,), {"key": key} if key else {})
    labels = {"l2-category": LABELS[name], "task": LABELS[name]} if name in LABELS else {}
    return Item(name, (turn,), (image,), tuple("xyz"[:choices]), labels=labels)


def observed(values: Mapping[str, float | None]) -> list[ScoredObservation]:
    """One observation an item; without a value the model declined by a filter."""
    return [
        scored(
            name, value, metric="right", status="refused" if value is None else "",
            refused=value is None, **({"task": LABELS[name]} if name in LABELS else {}),
        )
        for name, value in values.items()
    ]  # fmt: skip


def gaps(english: dict, chinese: dict, metrics=(RIGHT,)) -> dict[tuple[str, ...], Finding]:
    """Findings by model, metric, subset and measure; each side by model and item."""
    sides = [
        ReleaseObservations(
            release,
            [item(name) for name in sorted({n for of in given.values() for n in of})],
            frame({model: observed(of) for model, of in given.items()}),
        )
        for release, given in (("in-en", english), ("in-zh", chinese))
    ]
    found = language_gap_findings(metrics, *sides)
    return {(each.subject, each.metric, each.subset_value, each.measure): each for each in found}


def scores(found: dict[tuple[str, ...], Finding], *key: str) -> tuple[float | None, ...]:
    """Both scores and the difference of a model, metric and subset."""
    measures = ("first_score", "second_score", "difference")
    return tuple(found[*key, measure].value for measure in measures)


def test_items_are_pairs_if_all_but_the_language_is_alike() -> None:
    first = [item(name) for name in (*"abcd", "only")]
    unlike = [item("b", image="another"), item("c", choices=3), item("d", key="B")]
    second = [item("a"), *unlike, item("x"), item("y")]
    assert paired_items(first, second) == ItemPairing(frozenset("a"), 1, 2, 3)
    # A key that is held out may be any.
    held_out = [item("a", key=None), item("d", key=None)]
    assert paired_items(first, held_out).paired == {"a", "d"}


def test_a_difference_is_of_pairs_alone_with_its_interval_and_p_by_hand() -> None:
    found = gaps(
        {"m": {"a": 1, "b": 1, "c": 1, "d": 0, "x": 1}},
        {"m": {"a": 1, "b": 0, "c": 0, "d": 0, "y": 1, "z": 1}},
    )
    row = found["m", "Right", "", "difference"]
    assert scores(found, "m", "Right", "") == (75, 25, 50)
    assert (found["", "", "", "n_pairs"].n, row.n, row.n_clusters) == (4, 4, 4)
    counts = [found["", "", "", name].n for name in ("n_only_first", "n_only_second", "n_unlike")]
    assert counts == [1, 2, 0]
    assert row.p == pytest.approx(stats.ttest_1samp([0, 100, 100, 0], 0).pvalue)
    assert row.reason is None
    # An interval on the scale of differences that has 0 in it, as p is above 0.05.
    assert -100 < row.ci_low < 0 < 50 < row.ci_high <= 100
    assert row.method == PAIRED_T
    # By ability the same of its items.
    assert found["m", "Right", "seeing", "difference"].value == 50
    assert found["", "", "seeing", "n_pairs"].n == 2
    assert {row.subset_label for row in found.values()} == {"", "l2-category"}


def test_what_a_model_failed_is_at_the_floor_and_what_is_missing_is_no_pair() -> None:
    found = gaps({"m": {"a": 1, "b": 1}}, {"m": {"a": None, "b": 1}})
    assert found["m", "Right", "", "second_score"].value == 50
    lost = {"m": {"a": 1, "b": 1}, "n": {"a": 1}}
    found = gaps(lost, {"m": {"a": 1, "b": 1}, "n": {"a": 0, "b": 1}})
    row = found["n", "Right", "", "difference"]
    assert (found["", "", "", "n_pairs"].n, row.n, row.value) == (2, 1, 100)
    assert row.ci_low is None and row.reason.startswith("All common units are of one")


def test_p_is_adjusted_over_the_models() -> None:
    six = dict.fromkeys("abcdef", 1)
    none = dict.fromkeys("abcdef", 0)
    found = gaps({"m": six, "n": six}, {"m": none, "n": six})
    # All six differ by as much, so two pseudo-clusters are added; the other model does not differ.
    differs = found["m", "Right", "", "difference"]
    assert differs.p == pytest.approx(stats.ttest_1samp([100] * 6 + [-100, 100], 0).pvalue)
    assert differs.p_holm == 2 * differs.p
    assert found["n", "Right", "", "difference"].p_holm == 1


def test_a_model_on_one_release_alone_has_a_reason_and_baselines_are_not_compared():
    found = gaps({"m": {"a": 1}, "only": {"a": 1}}, {"m": {"a": 1}})
    row = found["only", "Right", "", "difference"]
    assert row.value is None and row.reason == "It has no scores on in-zh."
    assert found["", "", "", "n_pairs"].n == 1 and row.n == 0
    # Baselines are not compared and without pairs there is nothing.
    of_baseline = {"baseline:reference": {"a": 1}}
    assert {subject for subject, *_ in gaps(of_baseline, of_baseline)} == {""}
    assert gaps({"m": {"a": 1}}, {"m": {"b": 1}}) == {}
