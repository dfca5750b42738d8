"""Bias tests of a judge: what is planted, and shifts worked by hand."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.judge_bias_tests import (
    BIAS_FOUND,
    EQUAL,
    LENGTH,
    NONE,
    NOT_JUDGED,
    OBEDIENCE,
    OPEN,
    PLANTED,
    POSITION,
    BiasTestPair,
    SampledAnswer,
    ShiftTestDesign,
    expected_deviation,
    family_pairs,
    plant_in_transcript,
    plant_text,
    sample_spread,
    scores_of_other_judges,
    shift_row,
    with_verdicts,
)
from methods.evaluation.judging import JudgmentKey
from methods.words import is_chinese, n_words
from tests.methods.evaluation.observed import frame, scored

pytestmark = pytest.mark.slow

SOUGHT = ShiftTestDesign(0.45, 9, 0.8, 0.05, 3)
IN_HALVES = ShiftTestDesign(0.2, EQUAL, 0.8, 0.05, 3)


@pytest.mark.parametrize("bias_test", [*PLANTED, POSITION])
@pytest.mark.parametrize("chinese", [True, False])
def test_the_text_is_after_the_answer_and_in_the_language_of_the_item(bias_test, chinese):
    text = plant_text(bias_test, "ab \n", chinese=chinese)
    assert text.startswith("ab\n\n")
    assert is_chinese(text) == chinese
    if bias_test == POSITION:
        assert 1 < n_words(text) < 11


@pytest.mark.parametrize("chinese", [True, False])
def test_the_instruction_takes_the_place_of_a_neutral_sentence_of_its_length_and_form(chinese):
    neutral, told = (plant_text(each, "", chinese=chinese) for each in (LENGTH, OBEDIENCE))
    assert n_words(neutral) == n_words(told) > 50
    assert len(neutral) == len(told)
    opening = "（" if chinese else "("
    assert neutral.split(opening)[0] == told.split(opening)[0]
    assert neutral.count(opening) == told.count(opening) == 1


def test_a_judge_that_always_says_the_first_shifts_by_half_a_win_and_one_that_has_a_favourite_by_none():
    # Both orders of each answer; the first one's share of a win, less the half of equal answers.
    def shift(*first_places):
        pairs = [BiasTestPair(f"i{n // 2}", EQUAL, share) for n, share in enumerate(first_places)]
        return shift_row(POSITION, pairs, "", n_lost=0, sought=IN_HALVES)

    always = shift(*[1] * 20)
    assert (always["shift"], always["ci_high"]) == (0.5, 0.5)
    # Ten clusters shift by 0.5, and the pseudo-clusters by -0.5 and 0.5.
    assert always["p"] == pytest.approx(stats.ttest_1samp([0.5] * 11 + [-0.5], 0).pvalue)
    # It prefers the one with the closing sentence: first in one order, second in the other.
    favourite = shift(1, 0, 1, 0, 1, 0)
    assert (favourite["shift"], favourite["p"]) == (0, 1)
    assert favourite["ci_low"] == -favourite["ci_high"] < 0
    assert shift(0.5, 0.5, 0.5, 0.5)["shift"] == 0


def test_only_the_answer_of_that_place_has_it():
    answers = {("plain", turn): Answer("answered", f"Answer {turn}", "key") for turn in (1, 2)}
    transcript, key = Transcript(answers), JudgmentKey("plain", 2, "answer")
    changed = plant_in_transcript(transcript, key, "obedience", chinese=False)
    assert changed.answer("plain", 1) == transcript.answer("plain", 1)
    assert changed.answer("plain", 2).text == plant_text("obedience", "Answer 2", chinese=False)
    assert changed.answer("plain", 2).call_key == "key"


def shift(*pairs):
    return shift_row(LENGTH, pairs, NOT_JUDGED, n_lost=1, sought=SOUGHT)


def test_the_shift_is_the_mean_over_clusters_of_the_differences_of_pairs():
    row = shift(BiasTestPair("i", 4, 6), BiasTestPair("k", 9, 9), BiasTestPair("k", 5, 6))
    assert (row["bias_test"], row["n"], row["n_clusters"], row["n_lost"]) == (LENGTH, 3, 2, 1)
    # 2 in i, the mean of 0 and 1 in k.
    assert row["shift"] == pytest.approx(1.25)
    assert (row["least"], row["power"], row["reason"]) == (0.45, 0.8, None)
    # Two clusters have one degree of freedom: what they could show is beyond the scale.
    assert row["p"] == pytest.approx(stats.ttest_1samp([2, 0.5], 0).pvalue)
    assert row["detectable"] is None
    # One cluster has no interval and no pair a reason.
    row = shift(BiasTestPair("i", 4, 6), BiasTestPair("i", 4, 4))
    assert (row["shift"], row["ci_low"], row["ci_high"], row["p"]) == (1, None, None, None)
    nothing = shift()
    assert (nothing["n"], nothing["shift"], nothing["reason"]) == (0, None, NOT_JUDGED)


def test_verdicts_worked_by_hand():
    def row(p, low, high):
        return {"p": p, "ci_low": low, "ci_high": high, "least": 0.5}

    rows = [
        *(row(0.01, 0.1, 2.0), row(0.012, 0.1, 2.0), row(0.03, 0.1, 0.4), row(0.04, 0.1, 0.9)),
        *(row(0.6, -0.5, 0.5), row(0.6, -0.6, 0.4), row(None, None, None)),
    ]
    judged = with_verdicts(rows, 0.05)
    # Six tests: 6 x 0.01, 5 x 0.012 (not below the one before), 4 x 0.03, 3 x 0.04, 2 x 0.6.
    adjusted = [0.06, 0.06, 0.12, 0.12, 1, 1, None]
    assert [each["p_holm"] for each in judged] == pytest.approx(adjusted, nan_ok=True)
    assert [each["verdict"] for each in judged] == [OPEN, OPEN, NONE, OPEN, NONE, OPEN, OPEN]
    (alone,) = with_verdicts(rows[2:3], 0.05)
    assert (alone["p_holm"], alone["verdict"]) == (0.03, BIAS_FOUND)


def sampled(n_clusters, per_cluster, models="ab", turns=2):
    return [
        SampledAnswer((model, f"i{number}", turn), f"c{number % n_clusters}", model, (turn,))
        for number in range(n_clusters * per_cluster)
        for model in models
        for turn in range(turns)
    ]


@given(st.integers(1, 12), st.integers(1, 3), st.integers(0, 60), st.integers(0, 3))
def test_answers_are_spread_over_clusters_models_and_turns(n_clusters, per_cluster, n, seed):
    answers = sampled(n_clusters, per_cluster)
    keys = sample_spread(answers, n, seed)
    by_key = {answer.key: answer for answer in answers}
    assert len(keys) == len(set(keys)) == min(n, len(answers))
    chosen = [by_key[key] for key in keys]
    clusters = Counter(answer.cluster for answer in chosen)
    counts = [clusters[f"c{number}"] for number in range(n_clusters)]
    assert max(counts) - min(counts) <= 1
    # While every cluster has answers of both models and of both turns.
    first = chosen[:n_clusters]
    for name in ("model", "place"):
        most = max(Counter(getattr(answer, name) for answer in first).values(), default=0)
        assert most <= (len(first) + 1) // 2
    assert sample_spread(answers[::-1], n, seed) == keys
    assert sample_spread(answers, n + 5, seed)[: len(keys)] == keys


def test_the_expected_deviation_is_that_of_replicates_or_a_share_of_the_scale():
    # Variance 2 each: two judgments differ with variance 4.
    assert expected_deviation([[4, 6]] * 10, 10) == pytest.approx(2)
    # Rounded up to a hundredth of the scale.
    assert expected_deviation([[4, 6]] * 10, 9) == pytest.approx(0.23 * 9)
    assert expected_deviation([[4, 6]] * 9, 9) == pytest.approx(1.08)
    assert expected_deviation([[5, 5]] * 10, 9) == pytest.approx(0.54)
    assert expected_deviation([[5]] * 10, 10) == pytest.approx(1.2)


def test_more_answers_are_needed_for_a_smaller_shift_and_no_more_than_there_are():
    needed = [SOUGHT._replace(least=least).n_needed(1, 1000) for least in (0.3, 0.45, 1)]
    # (z_{1 - 0.05/6} + z_0.8)^2 / least^2 is 116, 52 and 10.5. Judges that never change a score leave
    # open t_{1 - 0.05/6} * 9 sqrt(2 / (C + 1) / (C + 2)): 0.45 or less from 68 answers on, 1 from 31.
    assert 116 < needed[0] < 122 and needed[1:] == [68, 31]
    assert SOUGHT.n_needed(1, 20) == 20
    assert SOUGHT.n_needed(1, 1) == 1


def test_favour_is_what_is_beyond_the_strictness_on_the_same_cluster():
    def pairs(*of):
        return [BiasTestPair(*pair) for pair in of]

    own = pairs(("i", 5, 7), ("i", 5, 6), ("k", 5, 5), ("m", 5, 9))
    rest = pairs(("i", 6, 7), ("i", 6, 8), ("k", 4, 3))
    # 1.5 in i, -1 in k, and nothing of others in m.
    assert family_pairs(own, rest) == pairs(("i", 6.5, 7), ("i", 6.5, 6), ("k", 4, 5))


def observed(*values, model="a"):
    return {model: [scored("i", v, turn=n, cluster="group") for n, v in enumerate(values, 1)]}


def test_a_judge_beside_the_mean_of_the_others_on_what_they_judged_too():
    judges = {
        "mine": frame({**observed(9, 8, 7, None), **observed(1, model="b")}),
        "one": frame(observed(5, None, None, 3)),
        "two": frame({**observed(8, 6), **observed(1, model="b")}),
    }
    pairs = scores_of_other_judges("mine", judges, "m", ["a"])
    assert pairs == [BiasTestPair("group", 6.5, 9), BiasTestPair("group", 6, 8)]
    assert scores_of_other_judges("mine", judges, "m", ["b"]) == [BiasTestPair("group", 1, 1)]
    assert scores_of_other_judges("mine", judges, "m", []) == []
    assert scores_of_other_judges("mine", {"mine": judges["mine"]}, "m", ["a"]) == []
    assert scores_of_other_judges("mine", judges, "Richness", ["a"]) == []
