"""Means of turn scores with intervals that respect dialogues."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.clustered_mean import AGGREGATIONS, Estimate, clustered_mean

SCORES = st.lists(st.lists(st.integers(1, 10).map(lambda s: s * 10.0), max_size=6), max_size=8)
EVERY = pytest.mark.parametrize("aggregation", AGGREGATIONS)


def mean(scores, aggregation="micro", *, seed=0, n_resamples=500) -> Estimate:
    return clustered_mean(scores, aggregation, seed=seed, n_resamples=n_resamples)


def test_the_two_means_as_worked_by_hand():
    scores = [[80, 60, 40], [20]]
    # Over turns, as MMDU's code does: (80 + 60 + 40 + 20) / 4 = 50.
    assert mean(scores, "micro").value == 50
    # Over dialogues, as its text says: ((80 + 60 + 40) / 3 + 20) / 2 = (60 + 20) / 2 = 40.
    assert mean(scores, "macro").value == 40


@EVERY
def test_the_interval_of_sixteen_dialogues_as_worked_by_hand(aggregation):
    # Eight dialogues at 0 and eight at 100. A resample draws k dialogues at 100, k ~ Bin(16, 1/2),
    # and has the mean 100 k / 16. P(k <= 3) = 0.011 < 0.025 < 0.038 = P(k <= 4): the 2.5 % point
    # is k = 4, a mean of 25, and by symmetry the 97.5 % point is k = 12, a mean of 75.
    estimate = clustered_mean([[0]] * 8 + [[100]] * 8, aggregation, seed=0)
    assert estimate == Estimate(50, 25, 75)


@EVERY
def test_turns_of_one_dialogue_are_not_independent_so_more_of_them_narrow_nothing(aggregation):
    few = [[0]] * 10 + [[100]] * 10
    many = [[0] * 50] * 10 + [[100] * 50] * 10
    assert mean(many, aggregation) == mean(few, aggregation)


@EVERY
def test_more_dialogues_narrow_the_interval(aggregation):
    few = clustered_mean([[0], [100]] * 10, aggregation, seed=0)
    many = clustered_mean([[0], [100]] * 250, aggregation, seed=0, n_resamples=2000)
    # Standard error 50 / sqrt(D): 11.2 for 20 dialogues, 2.2 for 500; the interval is 3.9 of them.
    assert few.ci_high - few.ci_low == 40
    assert 7 < many.ci_high - many.ci_low < 11


@EVERY
@pytest.mark.parametrize("scores", [[], [[]], [[], []]])
def test_nothing_scored_is_no_mean_and_not_zero(aggregation, scores):
    assert mean(scores, aggregation) == Estimate(None, None, None)


@EVERY
def test_one_dialogue_has_its_mean_for_an_interval(aggregation):
    assert mean([[20, 40]], aggregation) == Estimate(30, 30, 30)


@EVERY
def test_a_dialogue_without_a_score_carries_nothing(aggregation):
    scores = [[80, 60], [20], [50]]
    assert mean([[], *scores, []], aggregation) == mean(scores, aggregation)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    scores = [[10 * i, 10 * (i % 3)] for i in range(1, 11)]
    assert mean(scores, seed=1) == mean(scores, seed=1)
    assert mean(scores, seed=1) != mean(scores, seed=2)
    assert mean(scores, seed=1).value == mean(scores, seed=2).value


@EVERY
@given(scores=SCORES, seed=st.integers(0, 5), n_resamples=st.sampled_from([1, 2, 200]))
def test_the_interval_holds_the_mean_and_both_lie_within_the_scores(
    aggregation, scores, seed, n_resamples
):
    # A single resample may lie on either side of the mean: the interval holds it all the same.
    estimate = mean(scores, aggregation, seed=seed, n_resamples=n_resamples)
    flat = [score for dialogue in scores for score in dialogue]
    if not flat:
        assert estimate == Estimate(None, None, None)
        return
    assert min(flat) <= estimate.ci_low <= estimate.value <= estimate.ci_high <= max(flat)


@EVERY
@given(scores=SCORES, shuffler=st.randoms(use_true_random=False))
def test_the_order_of_dialogues_and_of_turns_changes_nothing(aggregation, scores, shuffler):
    shuffled = [list(dialogue) for dialogue in scores]
    for dialogue in shuffled:
        shuffler.shuffle(dialogue)
    shuffler.shuffle(shuffled)
    assert mean(shuffled, aggregation) == mean(scores, aggregation)


@given(st.lists(st.lists(st.integers(1, 10), min_size=3, max_size=3), min_size=1, max_size=8))
def test_both_means_are_one_when_dialogues_are_equally_long(scores):
    by_turn, by_dialogue = (mean(scores, aggregation).value for aggregation in AGGREGATIONS)
    assert by_turn == pytest.approx(by_dialogue)
