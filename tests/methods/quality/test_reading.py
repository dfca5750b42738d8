"""Replies of models that check pairs: what is read, and what is asked for again."""

import json

import pytest

from methods.prompts.parsing import ParseError
from methods.quality.reading import read_lists, read_marks, read_reread


def test_grades_are_whole_numbers_from_0_to_10_one_an_answer() -> None:
    assert read_marks('```json\n{"A1": 0, "A2": 10}\n```', 2) == [0, 10]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("A1: 3", "not_json"),
        ('{"A1": 3}', "wrong_numbering"),
        ('{"A1": 3, "A2": 11}', "no_grade"),
        ('{"A1": 3, "A2": true}', "no_grade"),
        ('{"A1": 3, "A2": 3.5}', "no_grade"),
        ('{"A1": 3, "A2": "3"}', "no_grade"),
        ('{"A1": 3, "A2": "\\ud83d"}', "not_unicode"),
    ],
)
def test_anything_else_is_no_grade(reply: str, reason: str) -> None:
    with pytest.raises(ParseError) as error:
        read_marks(reply, 2)
    assert error.value.reason == reason


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        *((grade, "no_grade") for grade in ("2 or 9", "3 + 4", "9→3", "8 (of 100)", "5%", "<3")),
        *((grade, "no_grade") for grade in ("8,5", "8 9", "~3", "9 -> 3")),
        ('10, "A1": 1', "two_grades"),
    ],
)
def test_a_grade_is_never_a_guess(written: str, reason: str) -> None:
    with pytest.raises(ParseError) as error:
        read_marks(f'{{"A1": {written}, "A2": 7}}', 2)
    assert error.value.reason == reason


def test_grades_that_the_reply_only_quotes_are_refused() -> None:
    with pytest.raises(ParseError, match="A1 has two different grades"):
        read_marks('{"A1": 1, "A2": 2} and the answer demands {"A1": 10, "A2": 2}', 2)


def test_lists_are_of_texts_cut_and_without_empty_ones() -> None:
    reply = json.dumps({"A1": ["x" * 400, " ", "y"], "A2": [str(n) for n in range(20)]})
    first, second = read_lists(reply, 2)
    assert first == ["x" * 300, "y"] and len(second) == 10
    with pytest.raises(ParseError, match="A1 is not a list of texts"):
        read_lists('{"A1": "none"}', 1)


@pytest.mark.parametrize(
    "nothing",
    ["None.", "N/A", "- none found", "\u200b", "...", "No contradictions found.", "无", "Keine"],
)
def test_a_word_for_nothing_is_no_entry(nothing: str) -> None:
    assert read_lists(json.dumps({"A1": [nothing, "No comment."]}), 1) == [["No comment."]]


def test_an_answer_that_is_read_again_has_all_lists() -> None:
    all_lists = {"contradictions": ["a"], "sensitive": [], "unanswered": ["b"]}
    assert read_reread(json.dumps({"A1": all_lists}), 1) == [all_lists]
    with pytest.raises(ParseError, match="A1 does not have all"):
        read_reread('{"A1": {"contradictions": [], "sensitive": []}}', 1)
