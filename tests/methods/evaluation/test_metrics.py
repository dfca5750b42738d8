"""Metrics by hand: means, win rates, all passes right, spreads of groups, and composites of them."""

import math
from dataclasses import replace

import numpy as np
import pytest

from methods.convbench.scores import R1, R2, WIN_RATES
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.composite import difference, weighted_mean
from methods.evaluation.metrics.group_spread import GroupSpread, ShareOverBand
from methods.evaluation.metrics.mean import Mean, MeanOrRefused
from methods.evaluation.metrics.units import (
    UnitMatrix,
    coverage_of,
    means,
    units_of,
    weighted_by_stratum,
)
from methods.evaluation.metrics.win_rate import WinRate
from methods.evaluation.ranking import compare
from methods.evaluation.scoring import score_rows
from tests.methods.evaluation.observed import ScoredObservation, frame, number, scored, values

GRADES = [
    scored("a", 4, turn=1, category="x"),
    scored("a", 8, turn=2, category="x"),
    scored("b", 9, category="y"),
    scored("b", None, turn=2, category="y"),
    scored("c", 1, metric="other", category="y"),
]


def mean(aggregation: str = "micro", **more) -> Mean:
    return Mean(name="m", lowest=10, highest=100, scale=10, aggregation=aggregation, **more)


def test_micro_is_over_turns_and_macro_over_the_means_of_items_or_of_values_of_a_label():
    assert number(mean(), GRADES) == 10 * (4 + 8 + 9) / 3
    # Macro is over the means of items.
    assert number(mean("macro"), GRADES) == 10 * ((4 + 8) / 2 + 9) / 2
    # Macro by a label is over the means of its values.
    more = [*GRADES, scored("d", 3, category="y")]
    assert number(mean("macro by category"), more) == 10 * ((4 + 8) / 2 + (9 + 3) / 2) / 2


def test_what_failed_counts_as_the_lowest_value_at_the_floor_and_has_none_otherwise() -> None:
    assert number(mean(), GRADES, floor=True) == (40 + 80 + 90 + 10) / 4
    assert number(mean("macro"), GRADES, floor=True) == ((40 + 80) / 2 + (90 + 10) / 2) / 2
    assert values(mean(), GRADES)["b", 2] is None


def test_several_observations_of_a_turn_are_averaged_first_and_others_left_out():
    assert values(mean(), [scored("a", 2), scored("a", 6)]) == {("a", 1): 40}
    # Other observations and other trials are left out.
    observed = [scored("a", 5), scored("b", 1, trial="no-images"), scored("c", 1, metric="other")]
    assert values(mean(), observed) == {("a", 1): 50}
    assert values(mean(trial="no-images"), observed) == {("b", 1): 10}


def test_the_upper_bound_takes_what_was_declined_for_the_best() -> None:
    bound = MeanOrRefused(name="m", lowest=10, highest=100, scale=10)
    # Declined in words, and judged; declined by a filter, and without a value.
    in_words = replace(scored("d", 1), refused=True)
    by_filter = replace(scored("e", None), refused=True, status="refused")
    declined = [*GRADES, in_words, by_filter]
    assert number(bound, declined, floor=True) == (40 + 80 + 90 + 10 + 100 + 100) / 6
    assert number(mean(), declined, floor=True) == (40 + 80 + 90 + 10 + 10 + 10) / 6
    assert bound.refusals_are_right and not mean().refusals_are_right


def test_weights_of_strata_are_no_differences_between_units() -> None:
    # Two strata of three units and one: w = 4 / (2 * 3) = 2/3 and 4 / (2 * 1) = 2. The mean of the
    # strata's means is m = (2 + 10) / 2 = 6; 1 becomes 6 + 2/3 (1 - 6) = 2.667, and 10 becomes 14.
    values = np.array([[1.0, 2, 3, 10], [5, 5, 5, 5]])
    matrix = UnitMatrix(values, np.arange(4), np.array([0, 0, 0, 1]))
    weighted, equal = weighted_by_stratum(matrix).values
    assert weighted == pytest.approx([2.6667, 3.3333, 4, 14], abs=1e-4)
    assert weighted.mean() == pytest.approx(6)
    assert equal == pytest.approx([5, 5, 5, 5])


WINS = WinRate(name="S1", observation="win")


def test_the_score_is_the_share_of_wins_in_both_orders():
    both = [scored("a", 1, metric="win"), scored("a", 1, metric="win")]
    assert number(WINS, [*both, scored("b", 0, metric="win")]) == 50
    # A judge that prefers a place gives every turn one half.
    observed = [scored(item, win, metric="win") for item in "abcd" for win in (1, 0)]
    assert set(values(WINS, observed).values()) == {50}
    # What was not judged is no loss.
    observed = [scored("a", 1, metric="win"), scored("a", None, metric="win")]
    assert values(WINS, observed) == {("a", 1): 100}


CIRCULAR = AllRight(name="circular", observation="right", trials="shift-", n_passes="n_choices")


def passes(name: str, *passes: float | None, choices: int = 3) -> list:
    of = {"metric": "right", "n_choices": str(choices)}
    return [scored(name, value, trial=f"shift-{k}", **of) for k, value in enumerate(passes)]


def test_an_item_is_right_if_every_pass_is_and_never_with_a_lost_one():
    observed = [*passes("a", 1, 1, 1), *passes("b", 1, 1, 0), *passes("c", 0)]
    assert values(CIRCULAR, observed) == {("a",): 100, ("b",): 0, ("c",): 0}
    assert number(CIRCULAR, observed) == 100 / 3
    # An item with a lost pass is never right.
    observed = [*passes("a", 1, 1), *passes("b", 1, None, 1)]
    assert values(CIRCULAR, observed) == {("a",): None, ("b",): None}
    # A pass that failed is wrong at the floor; one that was never made stays unknown.
    assert values(CIRCULAR, observed, floor=True) == {("a",): None, ("b",): 0}
    # A wrong pass decides whatever was lost.
    assert values(CIRCULAR, passes("a", None, 0)) == {("a",): 0}


SPREAD = GroupSpread(name="alignment", observation="m", lowest=4.5)
"""Of ratings from 1 to 10."""


@pytest.mark.parametrize("metric", [mean("macro by category"), WINS, CIRCULAR, SPREAD])
@pytest.mark.parametrize("observed", [[], [scored("a", 1, metric="other")]], ids=["none", "other"])
def test_without_observations_there_are_no_units(metric, observed) -> None:
    assert values(metric, observed) == values(metric, observed, floor=True) == {}
    assert number(metric, observed) is None


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


def test_the_mean_deviation_and_the_share_of_groups_whose_scores_lie_in_several_bands():
    assert number(DEVIATION, [*group("a", 4, 6), *group("b", 2, 8)]) == 2
    assert number(DEVIATION, group("a", 5, 5)) == 0
    # The share over a band counts a failed group at the floor.
    observed = [*group("a", 3, 4), *group("b", 3, None), *group("c", 1, 9)]
    assert number(OVER, observed) == pytest.approx(50)
    assert values(OVER, observed, floor=True) == {("a",): 0, ("b",): 100, ("c",): 100}
    # Means of replicates between two bands belong to the lower one.
    for ratings, value in (((5, 6), 100), ((2, 3), 100), ((5.5, 5), 0), ((5.5, 6), 100)):
        assert values(OVER, group("a", *ratings)) == {("a",): value}


TURNS = ((1, "Perception"), (2, "Reasoning"), (3, "Creation"), (3, "Overall"))
A, B = (Mean(name=name, lowest=0, highest=10) for name in "ab")
MEAN = weighted_mean("m", [(A, 1), (B, 3)], lowest=0, highest=10)


def both_orders(name: str, *wins: float | None) -> list[ScoredObservation]:
    """Both orders of each comparison of an item; a win is half of two orders that disagree."""
    return [
        scored(name, value, turn=turn, metric=metric)
        for (turn, metric), win in zip(TURNS, wins, strict=True)
        for value in ((win, win) if win != 0.5 else (1, 0))
    ]


def of_means(metric, observed, *, floor=False) -> float | None:
    units = units_of({0: metric}, frame({"m": observed}), floor=floor)
    value = means(units, metric.weights)["m"]
    return None if value != value else value


def test_what_one_term_lacks_leaves_the_others_as_they_are() -> None:
    # S2 is of item a alone; S1, S3 and SO are of both.
    observed = [*both_orders("a", 1, 0, 0.5, 1), *both_orders("b", 1, None, 0, 0)]
    assert of_means(WIN_RATES["S2"], observed) == 0
    assert of_means(R2, observed) == pytest.approx((100 + 0 + 25) / 3)
    assert of_means(R1, observed) == pytest.approx((125 / 3 + 50) / 2)
    # Single items have the formula over their own values.
    assert values(R2, observed) == {("a",): pytest.approx(50), ("b",): None}
    assert values(R1, observed) == {("a",): pytest.approx(75), ("b",): None}


def test_what_the_model_failed_counts_at_the_floor_and_the_inverse_of_a_mean_is_no_term():
    observed = [*both_orders("a", 1, 1, 1, 1), *both_orders("b", 1, None, 1, 1)]
    assert of_means(R2, observed, floor=True) == pytest.approx((100 + 50 + 100) / 3)
    # The inverse of a mean is no term.
    with pytest.raises(ValueError, match="Alignment score is the inverse of a mean"):
        difference("d", GroupSpread(name="Alignment score", observation="m", lowest=5), A)


@pytest.mark.parametrize("metric", [R1, R2])
def test_there_is_no_number_without_one_of_the_terms(metric) -> None:
    assert of_means(metric, both_orders("a", 1, None, 1, 1)) is None


def test_a_difference_is_the_first_number_less_the_second_and_weights_count() -> None:
    gap = difference("gap", A, B)
    observed = [scored("x", 7, metric="a"), scored("y", 9, metric="a"), scored("x", 5, metric="b")]
    assert of_means(gap, observed) == 3
    assert of_means(MEAN, observed) == (8 + 3 * 5) / 4
    assert (gap.lowest, gap.highest, gap.aggregation) == (10, -10, "micro")
    assert not gap.higher_is_better
    # The page of two releases looks metrics up.
    assert {gap, R1} == {difference("gap", A, B), R1}


def test_the_coverage_is_that_of_the_term_of_which_least_was_judged() -> None:
    observed = frame({"m": [*both_orders("a", 1, 0, 0.5, 1), *both_orders("b", 1, None, 0, 0)]})

    def coverage(metric: Metric) -> float:
        return coverage_of({0: metric}, observed).get((0, "m"), 0.0)

    assert coverage(WIN_RATES["S1"]) == 1
    assert coverage(R1) == coverage(WIN_RATES["S2"]) == 0.5
    assert coverage(WIN_RATES["S2^"]) == 0


def test_a_score_and_a_difference_of_a_composite_are_the_formula_over_those_of_its_terms() -> None:
    models = {
        "one": [*both_orders("a", 1, 0, 0.5, 1), *both_orders("b", 1, None, 0, 0)],
        "two": [*both_orders("a", 0, 0, 1, 1), *both_orders("b", 0.5, 1, 1, None)],
    }
    metrics = [*WIN_RATES.values(), R2, R1]
    observed = frame(models)
    scores = score_rows(metrics, observed)
    values = {(row["model"], row["form"], row["metric"]): row["value"] for row in scores}
    pairs, _ = compare(metrics, observed, least_coverage=0)
    differences = {("", row["form"], row["metric"]): row["difference"] for row in pairs}
    for found, models in ((values, ("one", "two")), (differences, ("",))):
        for model in models:
            s1, s2, s3, so = (found[model, "floor", name] for name in ("S1", "S2", "S3", "SO"))
            assert found[model, "floor", "R2"] == pytest.approx((s1 + s2 + s3) / 3)
            assert found[model, "floor", "R1"] == pytest.approx((s1 + s2 + s3) / 6 + so / 2)
