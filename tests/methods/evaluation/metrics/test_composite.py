"""Composite metrics: the formula over the numbers of the terms, whatever the judge lost of each."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from methods.benchmarks import BENCHMARKS
from methods.convbench.scores import R1, R2, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.composite import Composite, difference, weighted_mean
from methods.evaluation.metrics.group_spread import GroupSpread
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.metrics.units import coverage_of, means, units_of
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import score_rows
from tests.methods.evaluation.metrics.numbers import scored, values
from tests.methods.evaluation.observed import ScoredObservation, frame

TURNS = ((1, "Perception"), (2, "Reasoning"), (3, "Creation"), (3, "Overall"))
A, B = (Mean(name=name, lowest=0, highest=10) for name in "ab")
MEAN = weighted_mean("m", [(A, 1), (B, 3)], lowest=0, highest=10)
COMPOSITES = {
    name: composites
    for name, benchmark in BENCHMARKS.items()
    if (composites := [each for each in benchmark.metrics if isinstance(each, Composite)])
}


def item(name: str, *wins: float | None) -> list[ScoredObservation]:
    """Both orders of each comparison of an item; a win is half of two orders that disagree."""
    return [
        scored(name, value, turn=turn, metric=metric)
        for (turn, metric), win in zip(TURNS, wins, strict=True)
        for value in ((win, win) if win != 0.5 else (1, 0))
    ]


def number(metric, observed, *, floor=False) -> float | None:
    units = units_of({0: metric}, frame({"m": observed}), floor=floor)
    value = means(units, metric.weights)["m"]
    return None if value != value else value


def test_r2_is_the_mean_of_three_turns_and_r1_that_of_it_and_the_conversation() -> None:
    observed = [*item("a", 1, 0, 0.5, 1), *item("b", 1, 1, 0, 0)]
    # S1 = 100, S2 = 50, S3 = 25, SO = 50; R2 = 175 / 3; R1 = (58.33 + 50) / 2.
    assert [number(WIN_RATES[name], observed) for name in ("S1", "S2", "S3", "SO")] == [
        *(100, 50, 25, 50)
    ]
    assert number(R2, observed) == pytest.approx(175 / 3)
    assert number(R1, observed) == pytest.approx(54.1667, abs=1e-4)


def test_what_one_term_lacks_leaves_the_others_as_they_are() -> None:
    # S2 is of item a alone; S1, S3 and SO are of both.
    observed = [*item("a", 1, 0, 0.5, 1), *item("b", 1, None, 0, 0)]
    assert number(WIN_RATES["S2"], observed) == 0
    assert number(R2, observed) == pytest.approx((100 + 0 + 25) / 3)
    assert number(R1, observed) == pytest.approx((125 / 3 + 50) / 2)
    # Single items have the formula over their own values.
    assert values(R2, observed) == {("a",): pytest.approx(50), ("b",): None}
    assert values(R1, observed) == {("a",): pytest.approx(75), ("b",): None}


def test_what_the_model_failed_counts_at_the_floor_and_the_inverse_of_a_mean_is_no_term():
    observed = [*item("a", 1, 1, 1, 1), *item("b", 1, None, 1, 1)]
    assert number(R2, observed, floor=True) == pytest.approx((100 + 50 + 100) / 3)
    # The inverse of a mean is no term.
    with pytest.raises(ValueError, match="Alignment score is the inverse of a mean"):
        difference("d", GroupSpread(name="Alignment score", observation="m", lowest=5), A)


@pytest.mark.parametrize("metric", [R1, R2])
def test_there_is_no_number_without_one_of_the_terms(metric) -> None:
    assert number(metric, item("a", 1, None, 1, 1)) is None


def test_a_difference_is_the_first_number_less_the_second_and_weights_count() -> None:
    gap = difference("gap", A, B)
    observed = [scored("x", 7, metric="a"), scored("y", 9, metric="a"), scored("x", 5, metric="b")]
    assert number(gap, observed) == 3
    assert number(MEAN, observed) == (8 + 3 * 5) / 4
    assert (gap.lowest, gap.highest, gap.aggregation) == (10, -10, "micro")
    assert not gap.higher_is_better
    # Composites of two benchmarks are held to their formula below.
    assert COMPOSITES.keys() >= {"mmbench", "convbench"}


def test_the_coverage_is_that_of_the_term_of_which_least_was_judged() -> None:
    observed = frame({"m": [*item("a", 1, 0, 0.5, 1), *item("b", 1, None, 0, 0)]})

    def coverage(metric: Metric) -> float:
        return coverage_of({0: metric}, observed).get((0, "m"), 0.0)

    assert coverage(WIN_RATES["S1"]) == 1
    assert coverage(R1) == coverage(WIN_RATES["S2"]) == 0.5
    assert coverage(WIN_RATES["S2^"]) == 0


OBSERVED = ("m", "Perception", "Reasoning", "Creation", "Overall", "right", "right (compat)")


@st.composite
def losses(draw: st.DrawFn) -> dict[str, list[ScoredObservation]]:
    """Two models on items of every kind of observation; any may be lost by the model or the judge."""
    value = st.sampled_from([0.0, 0.5, 1.0, None, "lost"])
    places = [
        *((trial, turn, metric) for trial in ("plain", "perfect-perception", "perfect-reasoning")
          for turn, metric in TURNS),
        *((f"shift-{shift}", 1, metric) for shift in range(2) for metric in OBSERVED[-2:]),
    ]  # fmt: skip
    labels = {"choices": "2", "category": "x"}
    observed: dict[str, list[ScoredObservation]] = {"one": [], "two": []}
    for rows in observed.values():
        for n in range(draw(st.integers(1, 5))):
            for trial, turn, metric in places:
                found = draw(value)
                if found == 0.5 and trial.startswith("shift"):
                    found = 1.0
                status = {"lost": "not_judged", None: "failed"}.get(found, "judged")
                known = found if isinstance(found, float) else None
                name = f"i{n}"
                rows.append(
                    ScoredObservation(
                        name, f"c{n // 2}", trial, turn, metric, known, status, labels=labels
                    )
                )
    return observed


@pytest.mark.parametrize("name", COMPOSITES)
@settings(max_examples=15, deadline=None)
@given(observed=losses())
def test_every_printed_composite_is_the_formula_over_the_printed_terms(name, observed) -> None:
    metrics = BENCHMARKS[name].metrics
    rows = score_rows(metrics, frame(observed), frame(observed))
    pairs, _ = compare(metrics, frame(observed), least_coverage=0)
    for composite in COMPOSITES[name]:
        printed = {
            (
                row["model"],
                row["form"],
                row["subset_label"],
                row["subset_value"],
                row["metric"],
            ): row
            for row in rows
            if row["aggregation"] == composite.aggregation
        }
        for (*cell, metric_name), row in printed.items():
            if metric_name == composite.name:
                terms = [printed[*cell, metric.name]["value"] for metric, _ in composite.parts]
                assert row["value"] == pytest.approx(of_terms(composite, terms), abs=1e-9)
                assert row["ci_low"] is None or row["ci_low"] <= row["value"] <= row["ci_high"]
        differences = {
            (row["form"], row["metric"]): row["difference"]
            for row in pairs
            if row["aggregation"] == composite.aggregation
        }
        for form in ("floor", "common"):
            terms = [differences[form, metric.name] for metric, _ in composite.parts]
            found = differences[form, composite.name]
            assert (found is None) == (None in terms)
            if found is not None:
                assert found == pytest.approx(of_terms(composite, terms), abs=1e-9)


def of_terms(composite: Composite, terms: list[float]) -> float:
    """The formula over the numbers of the terms."""
    return sum(weight * term for (_, weight), term in zip(composite.parts, terms, strict=True))
