"""JSON and YAML from outside, and ids by content."""

import json
import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from methods.ids import ID_LENGTH, canonical_json, content_id
from methods.json_text import MOST_DEPTH, NestingError, from_json, json_at, json_line, to_json
from methods.yaml_text import MOST_CHARACTERS, from_yaml

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


def test_odd_numbers_and_texts() -> None:
    expected = {
        "[NaN, Infinity, -Infinity, 1e999, -1e999]": [None] * 5,
        "9" * 100: 10**100 - 1,
        "9" * 101: None,
        b'\xef\xbb\xbf"a byte order mark"': "a byte order mark",
        r'"\ud83d"': "\ud83d",
    }
    assert {text: from_json(text) for text in expected} == expected


@pytest.mark.parametrize("text", ["", "{", '{"a":' * 3_000, "\ufeff1", b'"\xff"', "1 2", '"\n"'])
def test_what_is_no_json_is_a_value_error(text):
    with pytest.raises(ValueError):
        from_json(text)


TWICE = "key a is there twice, in line 1 and in line 3"
UNREADABLE = [
    *("a: 2024-13-45", "a: !!timestamp x", "a: !!bool x", "a: !!int ''", "a: !!int x"),
    *(f"a: {'1' * 5_000}", f"a: 0x{'f' * 6_000}", "a: 1" + ":11" * 100_000),
    *("a: !!float 1" + ":11" * 1_000, "a: !!int {}", "a: !!timestamp []"),
]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: " + "[" * 20_000, "too often"),
        ("a: " + "{b: " * 20_000, "too often"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("a: &a [*a]", "contains it"),
        ("a: 1\nb: 2\na: 3", TWICE),
        ("x: {a: 1,\n b: 2,\n a: 1}", TWICE),
        *((text, "cannot be read|expected a scalar") for text in UNREADABLE),
        ("#" * (MOST_CHARACTERS + 1), "characters"),
    ],
)
def test_what_is_no_plain_yaml_is_refused(text: str, why: str) -> None:
    with pytest.raises(yaml.YAMLError, match=why):
        from_yaml(text)


def bomb(levels: int) -> str:
    """Each level repeats the one before ten times."""
    lines = [f"a0: &a0 [{'x, ' * 10}]"]
    lines += [f"a{n}: &a{n} [{f'*a{n - 1}, ' * 10}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_and_merged_mappings_repeat_a_bounded_number_of_values():
    assert len(from_yaml(bomb(3))["a2"]) == 10
    with pytest.raises(yaml.YAMLError, match="repeat more than 100,000 values"):
        from_yaml(bomb(10))
    # Merged mappings count as repeated.
    fields = ", ".join(f"k{n}: 1" for n in range(1_000))
    with pytest.raises(yaml.YAMLError, match="repeat more than"):
        from_yaml(f"a: &a {{{fields}}}\nb: {{<<: [{'*a, ' * 100}]}}")
    # A key beside a merged one is not twice.
    assert from_yaml("a: &a {x: 1}\nb: {<<: *a, x: 2}\n1: 1\n'1': 2")["b"] == {"x": 2}


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def test_an_id_is_a_hash_of_one_text_form_of_parts_that_are_kept_apart():
    assert canonical_json({"b": [1, None, True], "a": "é"}) == '{"a":"é","b":[1,null,true]}'
    # An id is the first twenty hex digits of the sha256 of its parts.
    # printf '["a",1]' | sha256sum: 135f17a475a61afdeeaf 3759ad2e...
    assert content_id("a", 1) == "135f17a475a61afdeeaf"
    assert ID_LENGTH == 20
    # Parts are kept apart.
    ids = [content_id("ab"), content_id("a", "b"), content_id(["a", "b"]), content_id("b", "a")]
    assert len(set(ids)) == 4
    # What JSON cannot say has no text form.
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError):
            canonical_json([number])


@given(st.dictionaries(TEXT, JSON, min_size=2, max_size=4))
def test_the_order_of_keys_is_no_part_of_a_thing(thing):
    assert content_id(thing) == content_id(dict(reversed(thing.items())))
