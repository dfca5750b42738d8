"""JSON objects in replies of models: found wherever they stand, repaired, and never guessed."""

import time
from contextlib import suppress

import json_repair
import pytest

from methods.evaluation.grades import read_grade
from methods.prompts.parsing import ParseError, object_schema, parse_numbered
from methods.prompts.reply_objects import MOST_CHARACTERS, objects_in, reply_object

TEXT = {"type": "string"}
SCHEMA = object_schema({"question": TEXT, "distractors": {"type": "array"}})
READ = {"question": "Which?", "distractors": ["a", "b"]}


def rated(reply: str) -> list[object]:
    """The ratings of a reply, as they are written."""
    return [found.values.get("Rating") for found in objects_in(reply, ("Rating",), ("Reason",))]


@pytest.mark.parametrize(
    "reply",
    [
        '{"question": "Which?", "distractors": ["a", "b"]}',
        'Here it is:\n```json\n{"question": "Which?", "distractors": ["a", "b",],}\n```\nDone.',
        "{'question': 'Which?', 'distractors': ['a', 'b']}",
        '{"Question": "Which?", // short\n "distractors": ["a", "b"] /* two */}',
        "{“question”：“Which?”，“distractors”：[“a”，“b”]}",
        '[{"question": "Which?", "distractors": ["a", "b"]}]',
        '{"item": {"question": "Which?", "distractors": ["a", "b"]}}',
        'Draft: {"question": "What?"}. Final: {"question": "Which?", "distractors": ["a", "b"]}',
        '{"question": "", "distractors": []} So: {"question": "Which?", "distractors": ["a", "b"]}',
        '{"question": "Which?", "distractors": ["a", "b"], "source": {"question": "What?"}}',
        'so I ask {"question": "No"}</think>{"question": "Which?", "distractors": ["a", "b"]}',
        "{a} " * 20 + "{'question': 'Which?', 'distractors': ['a', 'b']}",
    ],
)
def test_a_draft_is_the_last_object_with_all_its_names(reply: str) -> None:
    given = reply_object(reply, SCHEMA)
    assert {name: given[name] for name in READ} == READ


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "not_json"),
        ("Which?", "not_json"),
        ('{"other": 1}', "not_json"),
        ('{"question": "Which?", "distractors": ["a", "b', "not_json"),
        ('{"question": "The set {a} and', "not_json"),
        ("{'question': '" + "x" * MOST_CHARACTERS + "'}", "not_json"),
        ('{"question": "\\ud83d", "distractors": []}', "not_unicode"),
    ],
)
def test_a_draft_that_is_missing_cut_off_or_half_a_character_is_refused(reply, reason) -> None:
    with pytest.raises(ParseError) as caught:
        reply_object(reply, SCHEMA)
    assert caught.value.reason == reason


WRITTEN = {
    **dict.fromkeys(("8", "'8'", "8.0", "８", "8 // of 10", "8 /* fine */", "“8”", "**8**"), 8),
    **dict.fromkeys(
        ("3 + 4", "7 if 1 else 7", "~7", "1_0", "8 9", "(7,)", "8 of 10"), "not_an_integer"
    ),
    **dict.fromkeys(
        (
            "8,5",
            "8, 9",
            "8，9",
            "8; 9",
            "8\n9",
            "10,0",
            "1'0",
            '"8", "9"',
            "7.99999999999999999999",
        ),
        "not_an_integer",
    ),
}


@pytest.mark.parametrize(("written", "value"), WRITTEN.items())
def test_a_short_value_of_a_damaged_object_is_the_one_that_is_written(written, value):
    (given,) = rated(f"{{'Reason': 'right', 'Rating': {written}}}")
    try:
        assert read_grade(given, "It") == value
    except ParseError as error:
        assert error.reason == value


@pytest.mark.parametrize(
    ("reply", "ratings"),
    [
        ('{"Rating": 8, "Rating": 3}', [8, 3]),
        ('{"Rating": 8, "Rating": 8}', [8]),
        ('{"Reason": "he says "no", "Rating": 3, and", "Rating": 8,}', [3, 8]),
        ('[{"Rating": 8}, {"Rating": 3}]', [8, 3]),
        ('{"Reason": "it says \\"Rating\\": 3", "Rating": 8}', [8]),
    ],
)
def test_two_values_of_one_name_are_both_there(reply: str, ratings: list[int]) -> None:
    assert rated(reply) == ratings


@pytest.mark.parametrize(
    "reply",
    [
        '{"A1": "Red.", "A2": "Blue."}',
        'Sure:\n```json\n{"A1": "Red.", "A2": "Blue.",}\n```',
        "{'a1': 'Red.', 'a2': 'Blue.'}",
    ],
)
def test_numbered_texts_may_be_such_an_object(reply: str) -> None:
    assert parse_numbered(reply, "A", 2) == ["Red.", "Blue."]


@pytest.mark.parametrize(
    "unit", ["{'Rating'", "{'Rating': '", "{", "{'Rating': 8} or ", "'\"{Rating"]
)
def test_the_longest_reply_is_read_in_bounded_time(unit: str) -> None:
    started = time.monotonic()
    with suppress(ParseError):
        rated(unit * 50_000)
    assert time.monotonic() - started < 20


def test_the_damaged_text_that_is_repaired_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    repair, lengths = json_repair.loads, []

    def counted(text: str, **settings: bool) -> object:
        lengths.append(len(text))
        return repair(text, **settings)

    monkeypatch.setattr(json_repair, "loads", counted)
    rated(('{"Reason":"' + 'a"b,c:' * 1_000 + '"Rating": }') * 50)
    assert 0 < sum(lengths) <= 3 * MOST_CHARACTERS


def test_many_values_of_many_names_are_read_in_bounded_time() -> None:
    names = [f"score {n}" for n in range(7)]
    pairs = ", ".join(f"'{name}': {value}" for name in names for value in range(60))
    found = objects_in(f"{{{pairs}}}", names)
    assert [each.values for each in found] == [dict.fromkeys(names, value) for value in range(60)]
