"""Probes of a judge: what is planted, and shifts worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.judging import Place
from methods.evaluation.metrics import Scored
from methods.evaluation.probes import (
    EQUAL,
    NOT_JUDGED,
    PLANTED,
    POSITION,
    Pair,
    beside_others,
    planted,
    shift_row,
    with_planted,
)
from methods.words import is_chinese, n_words


@pytest.mark.parametrize("probe", PLANTED)
@pytest.mark.parametrize("chinese", [True, False])
def test_the_text_is_after_the_answer_and_in_the_language_of_the_item(probe, chinese):
    text = planted(probe, "ab \n", chinese=chinese)
    assert text.startswith("ab\n\n")
    assert is_chinese(text) == chinese


def test_padding_is_long_and_the_instruction_is_not():
    for chinese in (True, False):
        assert n_words(planted("length", "", chinese=chinese)) > 50
        assert n_words(planted("obedience", "", chinese=chinese)) < 30


def test_the_closing_sentence_of_the_probe_of_position_is_short_and_says_nothing():
    for chinese in (True, False):
        text = planted(POSITION, "", chinese=chinese)
        assert 0 < n_words(text) < 10
        assert is_chinese(text) == chinese


def test_a_judge_that_always_says_the_first_shifts_by_half_a_win_and_one_that_has_a_favourite_by_none():
    # Both orders of each answer; the first one's share of a win, less the half of equal answers.
    def shift(*first_places):
        pairs = [Pair(f"i{n // 2}", EQUAL, share) for n, share in enumerate(first_places)]
        return shift_row(POSITION, pairs, "", n_lost=0, span=EQUAL)

    always = shift(1, 1, 1, 1, 1, 1)
    assert always["shift"] == 0.5 == always["ci_high"] and always["ci_low"] < 0.5
    # It prefers the one with the closing sentence: first in one order, second in the other.
    favourite = shift(1, 0, 1, 0, 1, 0)
    assert (favourite["shift"], favourite["ci_low"], favourite["ci_high"]) == (0, 0, 0)
    assert shift(0.5, 0.5, 0.5, 0.5)["shift"] == 0


def test_only_the_answer_of_that_place_has_it():
    transcript = Transcript(
        {("plain", turn): Answer("answered", f"Answer {turn}", "key") for turn in (1, 2)}
    )
    changed = with_planted(transcript, Place("plain", 2, "answer"), "obedience", chinese=False)
    assert changed.answer("plain", 1) == transcript.answer("plain", 1)
    assert changed.answer("plain", 2).text == planted("obedience", "Answer 2", chinese=False)
    assert changed.answer("plain", 2).call_key == "key"


def shift(*pairs):
    return shift_row("length", pairs, NOT_JUDGED, n_lost=1, span=9.0)


def test_the_shift_is_the_mean_difference_of_pairs():
    row = shift(Pair("i", 4, 6), Pair("k", 9, 9), Pair("k", 5, 6))
    assert (row["probe"], row["n"], row["n_lost"], row["reason"]) == ("length", 3, 1, None)
    assert row["shift"] == pytest.approx(1)
    assert -9 <= row["ci_low"] < 1 < row["ci_high"] <= 9


def test_one_cluster_has_no_interval_and_no_pair_a_reason():
    row = shift(Pair("i", 4, 6), Pair("i", 4, 4))
    assert (row["shift"], row["ci_low"], row["ci_high"]) == (1, None, None)
    nothing = shift()
    assert (nothing["n"], nothing["shift"], nothing["reason"]) == (0, None, NOT_JUDGED)


@given(st.lists(st.builds(Pair, st.sampled_from("ikl"), *[st.integers(1, 10)] * 2), min_size=1))
def test_the_interval_holds_the_shift_and_the_order_of_pairs_is_nothing_to_it(pairs):
    row = shift(*pairs)
    assert row == pytest.approx(shift(*pairs[::-1]))
    if row["ci_low"] is not None:
        assert row["ci_low"] <= row["shift"] <= row["ci_high"]


def observed(*values, model="a"):
    return {
        model: [
            Scored("i", "group", "plain", turn, "Overall", value)
            for turn, value in enumerate(values, 1)
        ]
    }


def test_a_judge_beside_the_mean_of_the_others_on_what_they_judged_too():
    judges = {
        "mine": {**observed(9, 8, 7, None), **observed(1, model="b")},
        "one": observed(5, None, None, 3),
        "two": {**observed(8, 6), **observed(1, model="b")},
    }
    assert beside_others("mine", judges, "Overall", ["a"]) == [
        Pair("group", 6.5, 9),
        Pair("group", 6, 8),
    ]
    assert beside_others("mine", judges, "Overall", ["b"]) == [Pair("group", 1, 1)]
    assert beside_others("mine", judges, "Overall", []) == []
    assert beside_others("mine", {"mine": judges["mine"]}, "Overall", ["a"]) == []
    assert beside_others("mine", judges, "Richness", ["a"]) == []
