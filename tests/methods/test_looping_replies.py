"""Replies of models that repeat one thing until their token limit: reading one ends at once.

An expression with overlapping repetitions takes time that grows with the square of the text's length or
faster; with the lengths here it does not end within the timeout.
"""

from collections.abc import Callable
from contextlib import suppress

import pytest

from methods.choice.strict import read_letter
from methods.evaluation.english_refusals import is_refusal
from methods.evaluation.rating import read_rating
from methods.mmdu.reading import read_answer, without_additions
from methods.model_text import without_reasoning
from methods.prompts.parsing import ParseError
from methods.prompts.reply_objects import objects_in
from methods.quality.leftovers import leftover_in
from methods.quality.multilingual_refusals import refusal_in
from methods.quality.personal_data import personal_data_in
from methods.quality.truncation import truncation_in

READERS: dict[str, Callable[[str], object]] = {
    "letter": lambda text: read_letter(text, ["dog", "cat"]),
    "reasoning": without_reasoning,
    "label and offers": without_additions,
    "answer": lambda text: read_answer(text, 1, 1),
    "JSON objects": lambda text: objects_in(text, ("score",)),
    "rating": read_rating,
    "truncation": truncation_in,
    "left-over": leftover_in,
    "personal data": personal_data_in,
    "refusal of a request": is_refusal,
    "refusal in any language": refusal_in,
}
REPEATED = [
    *"\n \t.…,-_*#|`$([{<“0",
    *("a", "A ", "A, ", "1. ", "> ", "```\n", "选", "答案", "Question", "Answer:", '{"a":'),
    *("</", "<think>", "</think>", "<answer>", "</answer>", "<|channel|>", "<SUMMARY>"),
    *("</REASONING>", "not ", "because ", "the answer is ", "I think ", "let me know "),
    *(r"\boxed{", r"\text{", "answer is ", "I would say ", "如果", "\n---"),
]
BEFORE = [
    *("", "The answer is ", "Question", "选", "<SUMMARY></REASONING><CONCLUSION>", "Chapter one "),
    *("as an ai", '{"Rating"'),
]
N_CHARACTERS = 5_000


@pytest.mark.timeout(60)
@pytest.mark.parametrize("reader", READERS)
def test_it_is_read_at_once(reader: str) -> None:
    for before in BEFORE:
        for repeated in REPEATED:
            with suppress(ParseError):
                READERS[reader](before + repeated * (N_CHARACTERS // len(repeated)) + " 5 and?")


def test_blanks_that_are_repeated_change_no_letter_and_no_rating() -> None:
    assert read_letter("The answer is" + "\n" * 5_000 + "B.", ["dog", "cat"]).letter == "B"
    assert read_letter("选择" + " " * 5_000 + "A", ["dog", "cat"]).letter == "A"
    for mark in (" ", "\n", '"', "“", "_", "*", "`", "``` "):
        judgment = read_rating(f"Reason: good {mark * (5_000 // len(mark))}\nRating: 8")
        assert (judgment.score, judgment.explanation) == (8, "good")
