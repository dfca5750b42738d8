"""The judge's dictionary: seven whole scores from 1 to 10, or a typed error; never evaluated."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.mmdu.judging import (
    DIMENSIONS,
    MAX_DICTIONARY_CHARACTERS,
    OVERALL,
    Grades,
    parse_grades,
)
from methods.prompts.parsing import ParseError

SCORES = dict(zip(DIMENSIONS, [7, 6, 8, 9, 5, 4, 7], strict=True))
REASONS = {"no_dictionary", "missing_score", "not_an_integer", "out_of_range"}


def reply(**changes: object) -> str:
    """A judge's reply; `changes` by dimension, its spaces as underscores, each a literal's text."""
    written = {dimension: repr(score) for dimension, score in SCORES.items()}
    written |= {key.replace("_", " "): str(value) for key, value in changes.items()}
    pairs = ", ".join(f"'{key}': {value}" for key, value in written.items())
    return f"Creativity: dull.\n{{{pairs}}}"


def reason_of(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse_grades(text)
    assert caught.value.detail.endswith(".")
    return caught.value.reason


# --- What is read --------------------------------------------------------------------------------


def test_there_are_six_dimensions_and_the_whole_comes_last():
    assert len(DIMENSIONS) == 7 and DIMENSIONS[-1] == OVERALL == "Overall Score"


def test_seven_scores_and_the_words_before_them():
    assert parse_grades(reply()) == Grades(SCORES, "Creativity: dull.")


def test_json_is_read_like_python():
    assert parse_grades(json.dumps(SCORES)).scores == SCORES


def test_a_fenced_dictionary_over_several_lines_is_read():
    fenced = "Fine.\n```json\n" + json.dumps(SCORES, indent=2) + "\n```\nThat is all."
    assert parse_grades(fenced).scores == SCORES


def test_keys_are_read_without_regard_to_case_and_space():
    shouted = {f" {key.upper()} ": score for key, score in SCORES.items()}
    assert parse_grades(repr(shouted)).scores == SCORES


def test_keys_that_are_no_dimension_are_ignored():
    assert parse_grades(reply(Total=46, Model="'the best'")).scores == SCORES


def test_the_last_of_several_dictionaries_counts():
    first, last = reply(Richness=1), reply(Richness=10)
    grades = parse_grades(f"{first}\nOn reflection:\n{last}")
    assert grades.scores["Richness"] == 10
    assert grades.explanation.startswith(first) and "On reflection" in grades.explanation


def test_a_last_dictionary_that_cannot_be_read_is_not_replaced_by_an_earlier_one():
    assert reason_of(reply() + "\n{'Creativity': 5}") == "missing_score"
    assert reason_of(reply() + "\n{so much for that}") == "no_dictionary"


def test_the_inner_one_of_nested_dictionaries_is_the_last():
    assert parse_grades("{'scores': " + json.dumps(SCORES) + "}").scores == SCORES
    nested = ", ".join(f"'{key}': {{'score': 5}}" for key in DIMENSIONS)
    assert reason_of("{" + nested + "}") == "missing_score"


@pytest.mark.parametrize("written", ["7", "7.0", "'7'", "' 7 '", "'7.0'", "7e0"])
def test_a_whole_number_means_itself_however_it_is_written(written):
    score = parse_grades(reply(Richness=written)).scores["Richness"]
    assert score == 7 and type(score) is int


@pytest.mark.parametrize("score", [1, 10])
def test_the_ends_of_the_scale_belong_to_it(score):
    assert parse_grades(reply(Richness=score)).scores["Richness"] == score


# --- What is not ---------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "All sevens.", "Creativity: 7", "{", "}{", "[7, 7, 7]"])
def test_a_reply_without_a_dictionary(text):
    assert reason_of(text) == "no_dictionary"


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_a_missing_score_is_an_error_and_not_a_smaller_divisor(dimension):
    # The released scorer counts a dictionary without "Overall Score" in the sum and not in the
    # number of turns, so that means above 10 are possible.
    rest = {key: score for key, score in SCORES.items() if key != dimension}
    assert reason_of(repr(rest)) == "missing_score"


@pytest.mark.parametrize("written", ["0", "11", "-1", "95", "'11'", "0.0", "1" + "0" * 400])
def test_a_score_off_the_scale(written):
    assert reason_of(reply(Richness=written)) == "out_of_range"


@pytest.mark.parametrize(
    "written",
    ["7.5", "'7.5'", "'seven'", "'7/10'", "''", "True", "None", "[7]", "(7,)", "1+2j", "1e999"],
)
def test_a_score_that_is_no_whole_number_is_an_error_and_not_rounded(written):
    assert reason_of(reply(Richness=written)) == "not_an_integer"


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "true", "null"])
def test_what_only_json_can_write_is_no_score_either(written):
    text = json.dumps(SCORES).replace('"Richness": 6', f'"Richness": {written}')
    assert reason_of(text) == "not_an_integer"


def test_code_is_never_run(tmp_path):
    trace = tmp_path / "trace"
    touch = f"__import__('pathlib').Path({str(trace)!r}).touch()"
    eval(touch)  # What the released scorer's eval() would do with it.
    assert trace.exists()
    trace.unlink()
    for text in (reply(Richness=touch), reply(Richness=f"{touch} or 7"), "{" + touch + ": 1}"):
        assert reason_of(text) == "no_dictionary"
    assert not trace.exists()


@pytest.mark.parametrize("written", ["3 + 4", "int('7')", "7 if 1 else 7", "lambda: 7", "x"])
def test_an_expression_is_no_score(written):
    assert reason_of(reply(Richness=written)) == "no_dictionary"


@pytest.mark.parametrize(
    "text",
    [
        "{[1]: 2}",
        "{{}: 1}",
        "{1, 2}",
        "{[1], 2}",
        "{'a\x00': 1}",
        reply(Richness="-" * 200_000 + "7"),
        reply(Richness="-" * (MAX_DICTIONARY_CHARACTERS - 300) + "7"),
        reply(Richness="(" * 200_000),
        reply(Richness="1" * 5000),
        reply(Richness="0x" + "f" * 5000),
        "{0x" + "f" * 5000 + ": 1}",
    ],
    ids=lambda text: text[:12],
)
def test_whatever_breaks_a_parser_is_only_an_unreadable_dictionary(text):
    # A list for a key is a TypeError, deep nesting a MemoryError, a long number cannot be shown.
    assert reason_of(text) in {"no_dictionary", "missing_score"}


def test_a_dictionary_as_long_as_allowed_is_read_and_a_longer_one_is_not():
    short = repr(SCORES)[:-1] + ", 'Note': '"
    full = short + "x" * (MAX_DICTIONARY_CHARACTERS - len(short) - 2) + "'}"
    assert len(full) == MAX_DICTIONARY_CHARACTERS and parse_grades(full).scores == SCORES
    assert reason_of(full.replace("'Note': '", "'Note': 'x")) == "no_dictionary"


VALUES = (
    st.integers()
    | st.floats()
    | st.booleans()
    | st.none()
    | st.text(max_size=4)
    | st.complex_numbers()
    | st.lists(st.integers(), max_size=2)
    | st.binary(max_size=2)
)
DICTIONARIES = st.dictionaries(
    st.sampled_from(DIMENSIONS) | st.text(max_size=4) | st.integers(), VALUES, max_size=9
).map(repr)
WHOLE = st.fixed_dictionaries(
    {key: st.integers(-1, 12) | st.sampled_from(["7", 7.0, "11", 7.5]) for key in DIMENSIONS}
).map(repr)


@given(st.lists(DICTIONARIES | WHOLE | st.text() | st.sampled_from("{}[]'\":,\\"), max_size=5))
def test_any_text_gives_seven_scores_on_the_scale_or_a_parse_error(pieces):
    try:
        grades = parse_grades("".join(pieces))
    except ParseError as error:
        assert error.reason in REASONS
    else:
        assert tuple(grades.scores) == DIMENSIONS
        assert all(type(s) is int and 1 <= s <= 10 for s in grades.scores.values())


@given(st.fixed_dictionaries({key: st.integers(1, 10) for key in DIMENSIONS}), st.booleans())
def test_whatever_a_judge_may_give_is_read_as_given(scores, as_json):
    text = json.dumps(scores) if as_json else repr(scores)
    assert parse_grades(f"Well.\n{text}\n").scores == scores
