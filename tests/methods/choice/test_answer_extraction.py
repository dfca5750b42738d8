"""Answers as they were read: their strata, the seeded sample, and what people are shown of them."""

import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.choice.answer_extraction import STRATA, ExtractedAnswer, sample_answers
from methods.evaluation.asking import AskingLimits, Transcript, readings_of
from methods.mmiu import Mmiu
from resources.settings.prompts import prompt
from tests.methods.choice.questions import item, run

ONE = ExtractedAnswer(
    model="secretive-9000",
    item_id="q1",
    trial="shift-0",
    turn=1,
    cluster="q1",
    question="<ImageHere>\nWhich colour has <image-1>?",
    choices=("red", "green", "blue"),
    answer="The answer is B.",
    rule="B",
    extractor=None,
    lost=None,
    compat_rule="B",
)
MANY = [replace(ONE, model=f"m{n % 3}", item_id=f"q{n}") for n in range(60)]


@pytest.mark.parametrize(
    ("rule", "extractor", "compat_rule", "stratum"),
    [
        ("B", None, "B", "rule"),
        ("B", None, None, "rule"),
        (None, "B", None, "extractor"),
        (None, "B", "B", "extractor"),
        ("Z", None, None, "none"),
        (None, "Z", None, "none"),
        ("B", None, "C", "differ"),
        (None, "B", "C", "differ"),
        ("Z", None, "A", "differ"),
        (None, None, None, "unread"),
        (None, None, "A", "unread"),
    ],
)
def test_each_answer_is_in_one_stratum(rule, extractor, compat_rule, stratum):
    read = replace(ONE, rule=rule, extractor=extractor, compat_rule=compat_rule)
    assert read.stratum == stratum and stratum in STRATA


def test_people_see_question_choices_and_output_and_no_reading_and_no_model() -> None:
    assert ONE.content == {
        "question": "(image)\nWhich colour has <image-1>?",
        "choices": {"A": "red", "B": "green", "C": "blue"},
        "output": "The answer is B.",
        "choice": None,
    }
    assert "secretive" not in json.dumps(ONE.content) + ONE.queue_id


def test_who_answered_and_what_was_read_do_not_change_the_item() -> None:
    other = replace(ONE, model="m2", item_id="q7", trial="shift-1", rule=None, extractor="A")
    assert other.queue_id == ONE.queue_id
    assert replace(ONE, choices=("green", "red", "blue")).queue_id != ONE.queue_id


def of_model(read: ExtractedAnswer) -> str:
    return read.model


def test_a_sample_has_so_many_of_each_group_and_all_of_a_small_one() -> None:
    small = replace(ONE, model="m9", item_id="q99")
    found = sample_answers([*MANY, small], 4, 0, of_model)
    assert Counter(map(of_model, found)) == {"m0": 4, "m1": 4, "m2": 4, "m9": 1}
    assert sample_answers(MANY, 0, 0, of_model) == []
    assert sample_answers(MANY, 4, 1, of_model) != sample_answers(MANY, 4, 0, of_model)


@given(st.permutations(MANY), st.integers(0, 9))
def test_a_sample_does_not_depend_on_the_order_and_a_larger_one_contains_it(shuffled, n):
    few = sample_answers(shuffled, n, 7, of_model)
    assert few == sample_answers(MANY, n, 7, of_model)
    assert set(few) <= set(sample_answers(MANY, n + 1, 7, of_model))


def test_readings_end_where_nothing_was_answered() -> None:
    question = item("B", "red", "green")
    _, transcript = run(Mmiu(retest=True), question, lambda ask: "(B)")
    first = Transcript({("plain", 1): transcript.answer("plain", 1)}, {("plain", 1): "B"})
    for of, trials in (
        (transcript, ["plain", "retest-1"]),
        (first, ["plain"]),
        (Transcript({}), []),
    ):
        asking = Mmiu(retest=True).ask(question, AskingLimits(prompt=prompt))
        assert [each.trial for each in readings_of(asking, of)] == trials
