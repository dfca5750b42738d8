"""Rewrites: same tokens, other words, none twice."""

import pytest

from methods.prompts.parsing import ParseError
from methods.rewriting import parse_rewrites

ORIGINAL = "Image1: <ImageHere>. What stands in <image-1>?"


def rewrites_of(*lines: str, original: str = "What is it?", n: int | None = None) -> list[str]:
    return parse_rewrites("\n".join(lines), original, len(lines) if n is None else n)


MARKS = ["1. ", "1) ", "1: ", "12. ", "**1.** ", "- ", "* ", "• ", "  1.  "]


@pytest.mark.parametrize(
    ("lines", "rewrites"),
    [
        (["Tell me what it is.", "Name it!"], ["Tell me what it is.", "Name it!"]),
        # Numbers and bullets are no part of a rewrite, and those of the text stay.
        *(([f"{mark}Name it!"], ["Name it!"]) for mark in MARKS),
        (["3.5 metres of what?"], ["3.5 metres of what?"]),
        (["**Name** it!"], ["**Name** it!"]),
        # Quotes around a rewrite go, and quotes inside stay.
        (['"Name it!"', '1. "Say it."'], ["Name it!", "Say it."]),
        (['Who painted "Night"'], ['Who painted "Night"']),
        (['"Night": whose is it'], ['"Night": whose is it']),
        # Empty lines are nothing, and more than were asked for are cut.
        (["", "Name it!", "   ", "1.", "Say it."], ["Name it!", "Say it."]),
        (["a", "b", "c"], ["a", "b"]),
        # Lines around the rewrites are none.
        (["Here are the rewrites:", "1. Name it!", "2. Say it."], ["Name it!", "Say it."]),
        (["以下是改写：", "Name it!"], ["Name it!"]),
        (["```json", "[", '"Name it!",', '"Say it."', "]", "```"], ["Name it!", "Say it."]),
        (['{"rewrites": [', '"Name it!",', '"Say it."]}'], ["Name it!", "Say it."]),
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


@pytest.mark.parametrize(
    "line",
    [
        "What is there?",
        "<ImageHere> What is there?",
        "What stands in <image-1>?",
        "<ImageHere> <image-2>?",
        "<ImageHere> <ImageHere> <image-1>?",
        "<ImageHere> <image-1> <image-1>?",
        "<ImageHere> <image-1> and <Image-2>?",
        "<ImageHere> <Image-1>?",
    ],
)
def test_a_rewrite_that_loses_doubles_or_changes_an_image_token_does_not_count(line):
    with pytest.raises(ParseError, match="0 usable rewrites of 1") as caught:
        rewrites_of(line, original=ORIGINAL)
    assert caught.value.reason == "too_few_rewrites"
