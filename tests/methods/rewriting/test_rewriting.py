"""Rewrites: same tokens, other words, none twice."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts.parsing import ParseError
from methods.rewriting import parse_rewrites

ORIGINAL = "Image1: <ImageHere>. What stands in <image-1>?"
LINES = st.lists(
    st.sampled_from(
        [ORIGINAL, "a", "<image-1> <ImageHere>", "<ImageHere> <image-1> b", "<image-2>"]
    )
    | st.sampled_from(["1. ", "- ", '"', "\n", "\r", "<IMAGE-1>", "c <ImageHere> <image-1>"])
    | st.text(max_size=5),
    max_size=15,
).map("".join)


def rewrites_of(*lines: str, original: str = "What is it?", n: int | None = None) -> list[str]:
    return parse_rewrites("\n".join(lines), original, len(lines) if n is None else n)


def test_a_rewrite_a_line():
    assert rewrites_of("Tell me what it is.", "Name it!") == ["Tell me what it is.", "Name it!"]


@pytest.mark.parametrize(
    "mark", ["1. ", "1) ", "1: ", "12. ", "**1.** ", "- ", "* ", "• ", "  1.  "]
)
def test_numbers_and_bullets_are_no_part_of_a_rewrite(mark):
    assert rewrites_of(f"{mark}Name it!") == ["Name it!"]


def test_quotes_around_a_rewrite_go_and_quotes_inside_stay():
    assert rewrites_of('"Name it!"', '1. "Say it."') == ["Name it!", "Say it."]
    assert rewrites_of('Who painted "Night"') == ['Who painted "Night"']
    assert rewrites_of('"Night": whose is it') == ['"Night": whose is it']


def test_a_number_or_emphasis_that_belongs_to_the_text_stays():
    assert rewrites_of("3.5 metres of what?") == ["3.5 metres of what?"]
    assert rewrites_of("**Name** it!") == ["**Name** it!"]


def test_empty_lines_are_nothing():
    assert rewrites_of("", "Name it!", "   ", "1.", "Say it.", n=2) == ["Name it!", "Say it."]


def test_the_original_and_repeats_do_not_count():
    lines = ("What is it?", "1. What is it?", "Name it!", "- Name it!", "Say it.")
    assert rewrites_of(*lines, n=2) == ["Name it!", "Say it."]
    with pytest.raises(ParseError, match="2 usable rewrites of 3"):
        rewrites_of(*lines, n=3)


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


def test_tokens_may_stand_anywhere_in_a_rewrite():
    line = "Look at <image-1> (<ImageHere>): what is there?"
    assert rewrites_of(line, original=ORIGINAL) == [line]


def test_more_than_were_asked_for_are_cut():
    assert rewrites_of("a", "b", "c", n=2) == ["a", "b"]


@given(LINES, st.integers(1, 3))
def test_any_text_gives_usable_rewrites_or_a_parse_error(text, n):
    try:
        rewrites = parse_rewrites(text, ORIGINAL, n)
    except ParseError as error:
        assert error.reason == "too_few_rewrites"
    else:
        assert len(rewrites) == n == len(set(rewrites))
        assert ORIGINAL not in rewrites
        for rewrite in rewrites:
            assert Counter({"<ImageHere>": 1, "<image-1>": 1}) == Counter(
                {token: rewrite.count(token) for token in ("<ImageHere>", "<image-1>")}
            )
