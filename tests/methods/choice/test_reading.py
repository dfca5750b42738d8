"""Letters read from answers: a table worked by hand, published replies, and replies of real models."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.choice import letter_rules
from methods.choice.alphabet import NO_CHOICE
from methods.choice.answer_extraction import compat, compat_letter
from methods.choice.lettered import LETTERS
from methods.choice.strict import MOST_CHARACTERS, read_letter
from tests.methods.choice.answer_texts import CHOICES, NOT_ITS_OWN, TABLE


def test_both_ways_read_the_letters_of_the_table() -> None:
    def read(choices: str, answer: str) -> tuple:
        of = CHOICES[choices]
        return choices, answer, read_letter(answer, of).letter, compat(answer, of)

    assert [row for row in TABLE if read(*row[:2]) != row] == []
    # An answer may mention a letter and not give it.
    assert [row for row in NOT_ITS_OWN if read(*row)[2]] == []


@given(
    st.text("İIıABCabc .ß", max_size=24),
    st.lists(st.text("İabß ", min_size=1, max_size=6), min_size=2, max_size=4),
)
@example("İİİ", ["İ", "x"])
@example("it is İ", ["İ", "ab"])
def test_texts_are_measured_and_compared_in_lower_case_as_vlmevalkit_does(answer, choices):
    """In lower case a text may be longer: "İ" becomes two characters."""
    low = answer.lower()
    found = [
        letter
        for letter, choice in zip(LETTERS, choices, strict=False)
        if choice.lower() in low and len(low) <= 2 * sum(len(each) for each in choices)
    ]
    # One choice alone, and no word that is a letter by itself.
    if not set("ABCDZ") & set(answer):
        assert compat(answer, choices) == (found[0] if len(found) == 1 else None)


def test_no_choice_that_vlmevalkit_takes_for_missing_is_its_reading():
    for rule, strict_letter, letter in (
        *(("A", "B", "A"), (None, "B", "B"), (None, "D", "Z")),
        *(("Z", "D", "Z"), (None, None, None)),
    ):
        assert compat_letter(rule, strict_letter, CHOICES["last"]) == letter
    # Of an endless answer the end is read.
    thought = "The answer is A. " + "Let me see. " * MOST_CHARACTERS
    assert read_letter(f"{thought} The answer is B.", CHOICES["last"]).letter == "B"


WORDS = st.text(string.ascii_lowercase, min_size=2, max_size=8)
QUESTIONS = st.lists(WORDS, min_size=2, max_size=8, unique=True)
FORMS = (
    *("{}", "({})", "{}.", "The answer is {}.", "The answer is ({}).", "Answer: {}"),
    *("\\boxed{{{}}}", "**{}**", "答案是{}", "选{}。"),
    "Option {} is correct because it is what the picture shows at its left edge.",
)


@given(st.permutations("ABCD"), st.sampled_from("ABCD"), st.sampled_from(FORMS))
def test_a_bare_letter_is_that_of_a_choice_also_where_a_choice_is_another_letter(
    choices, letter, form
):
    """ "C" to the choices B, C, A, D: of 4,377 published answers to MMBench 10 were not read."""
    wide = chr(ord(letter) + 0xFEE0)
    assert read_letter(form.format(letter), choices).letter == letter
    assert read_letter(form.format(wide), choices).letter == letter
    assert compat(letter, choices) == letter


@given(st.text(max_size=300), QUESTIONS)
def test_any_answer_is_read_as_a_letter_of_a_choice_or_z_or_not_at_all(answer, choices):
    letters = {*LETTERS[: len(choices)], "Z", None}
    assert read_letter(answer, choices).letter in letters and compat(answer, choices) in letters


RECORDED = json.loads(Path(__file__).with_name("real_replies.json").read_text("utf-8"))


@pytest.mark.parametrize("held_out", [False, True], ids=["seen", "held out"])
def test_letters_of_real_replies_are_read_as_a_person_reads_them(held_out: bool) -> None:
    replies = [reply for reply in RECORDED["replies"] if int(reply["id"], 16) % 2 == held_out]
    n_letters = sum(reply["letter"] is not None for reply in replies)
    right = wrong = 0
    for reply in replies:
        letter = read_letter(reply["reply"], reply["choices"]).letter
        letter = None if letter == NO_CHOICE else letter
        right += letter is not None and letter == reply["letter"]
        wrong += letter not in (None, reply["letter"])
    assert right / (right + wrong) >= 0.995 and right / n_letters >= 0.98


@pytest.mark.parametrize("repeated", [":：", "is "])
def test_the_ends_of_an_answer_are_compared_with_the_choices_up_to_a_limit(monkeypatch, repeated):
    ends = []
    normalized = letter_rules.normalized
    monkeypatch.setattr(
        letter_rules,
        "normalized",
        lambda text, **more: ends.append(text) or normalized(text, **more),
    )
    assert read_letter(repeated * (MOST_CHARACTERS // len(repeated)), ["dog", "cat"]).letter is None
    assert len(ends) < 100


def test_a_sentence_may_end_in_a_choice_that_has_many_colons() -> None:
    long = ":".join("abcdefghijklmnop")
    assert read_letter(f"The cat shows {long}.", [long, "cat"]) == ("A", "sentence")
    assert read_letter(f"The sign of the cat is: {long}.", ["cat", long]) == ("B", "sentence")
