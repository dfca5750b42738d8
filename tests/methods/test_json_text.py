"""JSON from outside: what is decoded can be encoded, walked through and stored."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.json_text import MOST_DEPTH, NestingError, from_json, json_at, json_line, to_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**99), 10**99) | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


def with_null_for_what_no_table_holds(value: object) -> object:
    if isinstance(value, dict):
        return {name: with_null_for_what_no_table_holds(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_null_for_what_no_table_holds(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@given(VALUES)
def test_a_value_comes_back_as_it_was_and_can_be_written_again(value):
    read = from_json(json.dumps(value))
    assert read == with_null_for_what_no_table_holds(value)
    assert from_json(json.dumps(value).encode()) == read
    assert from_json(to_json(read)) == read


@given(VALUES | st.text(st.sampled_from('\r\n\x0b\x0c\x1c\x85\u2028\u2029"\\a')))
def test_a_value_is_one_line_for_every_reader(value):
    value = with_null_for_what_no_table_holds(value)
    line = json_line(value)
    assert line.splitlines(keepends=True) == [line] and line.endswith("\n")
    assert from_json(line) == value


def nested(opens: str, depth: int, closes: str) -> str:
    return opens * depth + "0" + closes * depth


@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('[1,{"a":', "}]")])
def test_a_hundred_levels_are_read_and_one_more_is_not(opens, closes):
    levels = opens.count("[") + opens.count("{")
    text = nested(opens, MOST_DEPTH // levels, closes)
    assert to_json(from_json(text)).replace(" ", "") == text
    for deeper in (f"[{text}]", nested(opens, 970, closes), nested(opens, 100_000, closes)):
        for read in (from_json, lambda text: json_at(text, 0)):
            with pytest.raises(NestingError, match="more than 100 lists and objects"):
                read(deeper)


def test_long_texts_half_characters_and_bare_line_breaks():
    assert from_json("[" + "[]," * 1_000 + '"' + "[{" * 1_000 + '"]')[-1] == "[{" * 1_000
    # A text that is too long is not looked at.
    with pytest.raises(ValueError, match="it has more than 10 characters"):
        from_json("[" * 11, most=10)
    assert from_json(" " * 10 + "1", most=None) == 1
    # Half a character is replaced where it is written.
    assert to_json({"a": "\ud800 and \U0001f600"}) == '{"a": "? and \U0001f600"}'
    # A value inside a text may hold bare line breaks.
    text = 'Well: {"a": "one\ntwo"} and more'
    assert json_at(text, 6) == ({"a": "one\ntwo"}, text.index(" and more"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[NaN, Infinity, -Infinity, 1e999, -1e999]", [None] * 5),
        ("9" * 100, 10**100 - 1),
        ("9" * 101, None),
        ("9" * 5_000, None),
        ("1.5e3", 1500.0),
        (b'\xef\xbb\xbf"a byte order mark"', "a byte order mark"),
        (r'"\ud83d"', "\ud83d"),
    ],
)
def test_odd_numbers_and_texts(text, value):
    assert from_json(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a":' * 3_000, "\ufeff1", b'"\xff"', "1 2", '"\n"'])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        from_json(text)
