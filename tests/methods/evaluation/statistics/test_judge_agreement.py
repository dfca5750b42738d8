"""Judges: agreement at three levels, and variance components."""

import numpy as np
import pytest

from methods.agreement.rating_matrix import NOBODY_TWICE
from methods.agreement.scores import pearson
from methods.evaluation.statistics.estimates import PERCENTILES
from methods.evaluation.statistics.judge_agreement import judge_agreement
from methods.evaluation.statistics.variance_components import (
    replicate_variance,
    variance_components,
)
from tests.methods.evaluation.statistics.matrices import NAN

# Three models on two dialogues of two turns. The judge swaps good and bad turns within each dialogue,
# so that it is wrong about answers and right about dialogues and models.
MODELS = np.repeat([0, 1, 2], 4)
ITEMS = np.tile([7, 7, 8, 8], 3)
PEOPLE = np.array([1, 3, 3, 5, 4, 6, 6, 8, 5, 7, 9, 11], dtype=float)
JUDGE = np.array([3, 1, 5, 3, 6, 4, 8, 6, 7, 5, 11, 9], dtype=float)


def agreement(people, judge, items=ITEMS, n_resamples: int = 20) -> dict:
    """{(level, measure): row}."""
    pair = np.stack([people, judge], axis=1)
    rows = judge_agreement(pair, MODELS, items, seed=0, n_resamples=n_resamples)
    return {(each.level, each.measure): each for each in rows}


def test_a_judge_that_errs_on_turns_may_agree_on_dialogues_and_models():
    found = agreement(PEOPLE, JUDGE)
    # Every answer is 2 points off; means of a dialogue's two turns are the same, and so are models'.
    assert found["answer", "mae"].estimate.value == 2
    assert found["item", "mae"].estimate.value == found["model", "mae"].estimate.value == 0
    assert found["item", "pearson"].estimate.value == pytest.approx(1)
    assert found["model", "kendall"].estimate.value == 1
    assert [found[level, "mae"].n for level in ("answer", "item", "model")] == [12, 6, 3]
    # Deviations from the mean 17/3: d - 1 and d + 1 about each dialogue's deviation d, in the one
    # order for people, in the other for the judge. Dialogue means 2, 4, 5, 7, 6, 10:
    # sum d^2 = 230 - 34^2 / 6; r = sum (d^2 - 1) / sum (d^2 + 1), two turns each.
    squares = 230 - 34**2 / 6
    assert found["answer", "pearson"].estimate.value == pytest.approx((squares - 6) / (squares + 6))


@pytest.mark.parametrize("level", ["item", "model"])
def test_the_interval_of_means_is_over_the_dialogues_drawn(level):
    judge = PEOPLE + np.random.default_rng(0).normal(0, 3, 12)
    found = agreement(PEOPLE, judge, n_resamples=100)[level, "pearson"].estimate
    # Two dialogues: a resample is the first twice, both, or the second twice.
    by_dialogue = []
    for drawn in ([7], [7, 8], [8]):
        groups = [np.isin(ITEMS, drawn)] if level == "model" else [each == ITEMS for each in drawn]
        means = [
            [rater[group & (model == MODELS)].mean() for rater in (PEOPLE, judge)]
            for model in range(3)
            for group in groups
        ]
        by_dialogue.append(pearson(np.array(means)).value)
    assert found.value == pytest.approx(by_dialogue[1])
    assert found.ci_low == pytest.approx(min(by_dialogue))
    assert found.ci_high == pytest.approx(max(by_dialogue))
    assert found.method == PERCENTILES


def test_raters_are_compared_on_the_answers_that_both_have_scored():
    found = agreement(PEOPLE, np.where(MODELS == 0, PEOPLE, NAN))
    assert (found["answer", "mae"].n, found["answer", "mae"].estimate.value) == (4, 0)
    # One model is left, of which there is no order.
    assert (found["model", "mae"].n, found["model", "mae"].estimate.value) == (1, 0)
    assert found["model", "spearman"].estimate.value is None
    assert found["model", "spearman"].reason == "A correlation needs 3 items or more."
    found = agreement(PEOPLE, np.full(12, NAN))
    for level in ("answer", "item", "model"):
        row = found[level, "mae"]
        assert (row.n, row.reason) == (0, NOBODY_TWICE)
        assert (row.estimate.value, row.estimate.ci_low) == (None, None)


def test_one_cluster_has_values_without_intervals():
    for row in agreement(PEOPLE, JUDGE, items=np.zeros(12, dtype=np.int64)).values():
        assert row.estimate.value is not None
        assert (row.estimate.ci_low, row.estimate.ci_high) == (None, None)


# Two items, two judges, two replicates; cell means 3, 5 and 8, 6.
SCORES = np.array([[[2, 4], [5, 5]], [[8, 8], [5, 7]]], dtype=float)


def test_two_items_two_judges_two_replicates_as_worked_by_hand():
    # Item means 4, 7; judge means 5.5, 5.5; mean 5.5.
    # MS_i = 2 * 2 * (1.5^2 + 1.5^2) / 1 = 18; MS_j = 0.
    # Interaction: 3 - 4 = -1, 1, 1, -1: MS_ij = 2 * 4 / 1 = 8.
    # Within cells: 1 + 1, 0, 0, 1 + 1: MS_e = 4 / 4 = 1.
    found = variance_components(SCORES)
    components = (found.item, found.interaction, found.replicate)
    assert components == ((18 - 8) / (2 * 2), (8 - 1) / 2, 1)
    # (0 - 8) / 4 is below 0. With 3 more of one judge MS_j = 4 (1.5^2 + 1.5^2) = 18.
    assert found.judge == 0
    assert variance_components(SCORES + [[0], [3]]).judge == pytest.approx((18 - 8) / 4)
    # 2.5 + 0 + 3.5 + 1 = 7.
    assert found.shares == pytest.approx(
        {"item": 2.5 / 7, "judge": 0, "interaction": 3.5 / 7, "replicate": 1 / 7}
    )


def test_with_one_judge_or_one_replicate_there_are_fewer_components():
    # Items 2, 4 and 8, 8: means 3, 8; MS_i = 2 * (2.5^2 + 2.5^2) = 25; MS_e = (1 + 1) / 2 = 1.
    found = variance_components(SCORES[:, :1])
    assert (found.item, found.replicate) == ((25 - 1) / 2, 1)
    assert (found.judge, found.interaction) == (None, None)
    assert found.shares == {"item": 12 / 13, "replicate": 1 / 13}
    # With one replicate its noise is part of the interaction.
    # Cells 2, 5 and 8, 5: item means 3.5, 6.5, judge means 5, 5. MS_i = 2 * 4.5 = 9, MS_j = 0;
    # interaction -1.5, 1.5, 1.5, -1.5: MS_ij = 9.
    found = variance_components(SCORES[:, :, :1])
    assert (found.item, found.judge, found.interaction, found.replicate) == (0, 0, 9, None)


def test_only_complete_items_count_and_too_few_say_so():
    holes = np.concatenate([SCORES, [[[1, NAN], [2, 2]]]])
    assert variance_components(holes) == variance_components(SCORES)
    assert variance_components(SCORES[:1]).reason == "Fewer than two items have every score."
    alone = variance_components(SCORES[:, :1, :1])
    assert alone.reason == "One score an item: nothing tells items from noise."
    assert variance_components(SCORES[:1]).shares == {}
    assert variance_components(np.full((3, 2, 2), 5.0)).shares == {}


def test_replicate_variance_is_the_mean_over_units_scored_twice_or_more():
    # Variances of (2, 4), (5, 5, 8) and (8, 8): 2, 3 and 0. A unit scored once says nothing.
    scores = np.array([[2, 4, NAN], [5, 5, 8], [8, 8, NAN], [NAN, 1, NAN]])
    assert replicate_variance(scores) == pytest.approx(5 / 3)
    assert replicate_variance(scores[3:]) is None
    # Of several judges, every unit of every judge: it is the component of replicates.
    assert replicate_variance(SCORES) == variance_components(SCORES).replicate
