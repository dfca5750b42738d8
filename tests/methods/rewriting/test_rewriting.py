"""Rewrites: same tokens, other words, none twice, and whether one can stand for its question."""

from unittest.mock import Mock

import numpy as np
import pytest

from methods import rewriting
from methods.prompts.parsing import ParseError
from methods.rewriting import checks, parse_rewrites
from tests.methods.refusals import reason_of

ORIGINAL = "Image1: <ImageHere>. What stands in <image-1>?"


def rewrites_of(*lines: str, original: str = "What is it?", n: int | None = None) -> list[str]:
    return parse_rewrites("\n".join(lines), original, len(lines) if n is None else n)


MARKS = ["1. ", "1) ", "1: ", "12. ", "**1.** ", "- ", "* ", "• ", "  1.  "]


@pytest.mark.parametrize(
    ("lines", "rewrites"),
    [
        # Numbers and bullets are no part of a rewrite, and those of the text stay.
        *(([f"{mark}Name it!"], ["Name it!"]) for mark in MARKS),
        (["3.5 metres of what?"], ["3.5 metres of what?"]),
        # Quotes around a rewrite go, and quotes inside stay.
        (['"Name it!"', '1. "Say it."'], ["Name it!", "Say it."]),
        # Empty lines are nothing, and more than were asked for are cut.
        (["", "Name it!", "   ", "1.", "Say it."], ["Name it!", "Say it."]),
        # Lines around the rewrites are none.
        (["Here are the rewrites:", "1. Name it!", "2. Say it."], ["Name it!", "Say it."]),
        (["```json", "[", '"Name it!",', '"Say it."', "]", "```"], ["Name it!", "Say it."]),
        (["1. Name this:", "2. Say it."], ["Name this:", "Say it."]),
    ],
)
def test_a_rewrite_is_a_line_without_its_marks(lines, rewrites):
    assert rewrites_of(*lines, n=len(rewrites)) == rewrites


def test_the_original_and_repeats_do_not_count_and_tokens_may_stand_anywhere():
    lines = ("What is it?", "1. What is it?", "Name it!", "- Name it!", "Say it.")
    assert rewrites_of(*lines, n=2) == ["Name it!", "Say it."]
    with pytest.raises(ParseError, match="2 usable rewrites of 3"):
        rewrites_of(*lines, n=3)
    # Tokens may stand anywhere in a rewrite.
    line = "Look at <image-1> (<ImageHere>): what is there?"
    assert rewrites_of(line, original=ORIGINAL) == [line]


def test_lines_after_the_last_rewrite_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Mock(wraps=rewriting.image_tokens)
    monkeypatch.setattr(rewriting, "image_tokens", compared)
    assert rewrites_of(*(f"Name {n}!" for n in range(1_000)), n=2) == ["Name 0!", "Name 1!"]
    assert compared.call_count == 3


@pytest.mark.parametrize(
    "line",
    [
        "What stands in <image-1>?",
        "<ImageHere> <image-2>?",
        "<ImageHere> <ImageHere> <image-1>?",
        "<ImageHere> <image-1> <image-1>?",
        "<ImageHere> <Image-1>?",
    ],
)
def test_a_rewrite_that_loses_doubles_or_changes_an_image_token_does_not_count(line):
    assert reason_of(parse_rewrites, line, ORIGINAL, 1) == "too_few_rewrites"


QUESTION = "How many mills are there?"
REFERENCE = "There are three red mills in a field by a canal."


def test_the_language_is_the_script_of_most_of_a_text() -> None:
    languages = {
        **{"How many mills?": "en", "What does 出口 on the sign mean?": "en"},
        **{"请问，BMW 的标志在哪里？": "zh", "Сколько мельниц?": "other", "": None},
    }
    assert {text: checks.language_of(text) for text in languages} == languages


def test_why_a_rewrite_cannot_stand_for_its_question() -> None:
    expected = {
        "Please count the mills.": None,
        "“How many mills are there？”": "copy_of_the_question",
        "Count the mills!": "same_words",
        "图中有几座风车？": "other_language",
        "How many mills are in <image-1>?": "image_token",
        "Are there 3 mills?": "gives_answer_away",
        "How many red mills are in the field by the canal?": "gives_answer_away",
        "How many red mills are there?": None,
    }
    assert {
        rewrite: checks.fault_in(rewrite, QUESTION, REFERENCE, ["count the mills!"])
        for rewrite in expected
    } == expected


def test_a_short_answer_is_given_away_by_its_word_or_its_characters():
    for question, reference, told, sound in (
        (
            *("What colour has the kite?", "Red.", "What is the colour of the red kite?"),
            "Which colour is that kite?",
        ),
        ("风筝是什么颜色？", "红色的。", "红色的风筝是什么颜色？", "请问，风筝是什么颜色？"),
    ):
        assert checks.fault_in(told, question, reference, []) == "gives_answer_away"
        assert checks.fault_in(sound, question, reference, []) is None


def test_a_reference_says_something_that_its_question_does_not() -> None:
    assert checks.says_nothing_new("Three mills.", "Are there three mills or four?")
    assert not checks.says_nothing_new("Yes.", "Are there three mills?")
    assert checks.says_nothing_new("三座风车", "图中有三座风车吗？")


def test_usable_lines_are_read_in_order_and_too_few_are_refused_with_the_reasons() -> None:
    lines = (
        f"1. Count the mills.\n2. {QUESTION}\n\n3. Are there three?\n4. What number of mills is it?"
    )
    read = checks.read_rewrites(lines, QUESTION, REFERENCE, 2)
    assert read.rewrites == ["Count the mills.", "What number of mills is it?"]
    lost = {QUESTION: "copy_of_the_question", "Are there three?": "gives_answer_away"}
    assert read.lost == [*lost.items()]
    with pytest.raises(ParseError) as caught:
        checks.read_rewrites(f"Count them.\n{QUESTION}\n几座？", QUESTION, REFERENCE, 2)
    assert caught.value.reason == "too_few_rewrites"
    assert caught.value.detail == (
        "1 usable rewrites of 2 that are needed, 1 copy_of_the_question, 1 other_language."
    )


def test_the_lines_of_a_reply_that_are_compared_are_limited() -> None:
    lines = "\n".join(f"Please count the mills {'really ' * n}" for n in range(100))
    assert len(checks.read_rewrites(lines, QUESTION, REFERENCE, 2).rewrites) == 40


BAND = checks.SimilarityBand(0.6, 0.98, 0.9)


def test_meaning_style_and_number_are_kept_within_the_band() -> None:
    # The question, and rewrites: like it, nearly the same as the first, far, a copy, like it, like it.
    matrix = np.full((7, 7), 0.75) + 0.25 * np.eye(7)
    matrix[0, 1:] = matrix[1:, 0] = [0.8, 0.8, 0.5, 0.99, 0.7, 0.7]
    matrix[1, 2] = matrix[2, 1] = 0.95
    kept = checks.choose_by_meaning(matrix.tolist(), BAND, 2)
    assert kept.places == [0, 4]
    lost = {1: "same_style", 2: "other_meaning", 3: "hardly_changed", 5: "more_than_needed"}
    assert kept.lost == lost
