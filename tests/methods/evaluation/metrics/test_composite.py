"""Composite metrics: the formula over the numbers of the terms, whatever the judge lost of each."""

import pytest

from methods.convbench.scores import R1, R2, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.composite import difference, weighted_mean
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


def test_the_coverage_is_that_of_the_term_of_which_least_was_judged() -> None:
    observed = frame({"m": [*item("a", 1, 0, 0.5, 1), *item("b", 1, None, 0, 0)]})

    def coverage(metric: Metric) -> float:
        return coverage_of({0: metric}, observed).get((0, "m"), 0.0)

    assert coverage(WIN_RATES["S1"]) == 1
    assert coverage(R1) == coverage(WIN_RATES["S2"]) == 0.5
    assert coverage(WIN_RATES["S2^"]) == 0


def test_a_score_and_a_difference_of_a_composite_are_the_formula_over_those_of_its_terms() -> None:
    models = {
        "one": [*item("a", 1, 0, 0.5, 1), *item("b", 1, None, 0, 0)],
        "two": [*item("a", 0, 0, 1, 1), *item("b", 0.5, 1, 1, None)],
    }
    metrics = [*WIN_RATES.values(), R2, R1]
    observed = frame(models)
    values = {
        (row["model"], row["form"], row["metric"]): row["value"]
        for row in score_rows(metrics, observed)
    }
    differences = {
        ("", row["form"], row["metric"]): row["difference"]
        for row in compare(metrics, observed, least_coverage=0)[0]
    }
    for found, models in ((values, ("one", "two")), (differences, ("",))):
        for model in models:
            s1, s2, s3, so = (found[model, "floor", name] for name in ("S1", "S2", "S3", "SO"))
            assert found[model, "floor", "R2"] == pytest.approx((s1 + s2 + s3) / 3)
            assert found[model, "floor", "R1"] == pytest.approx((s1 + s2 + s3) / 6 + so / 2)
