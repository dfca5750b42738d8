"""Replies of models: numbered blocks and JSON objects, what is repaired, and what is a typed error."""

import hashlib
import re
from unittest.mock import Mock

import json_repair
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.evaluation.grades import read_grade
from methods.json_text import MOST_DEPTH
from methods.prompts import parsing, reply_objects
from methods.prompts.messages import Image, Message, Text
from methods.prompts.reply_objects import MOST_CHARACTERS, objects_in, reply_object
from tests.methods.refusals import reason_of

# No mark that ends a label is in here, so that no block holds a label of its own.
BLOCK = st.text("aQA1 \n*é<>-", min_size=1, max_size=30).map(str.strip).filter(bool)


LABELS = ["Q1:", "Q1.", "Q1)", "**Q1**:", "**Q1:**", "**Q1.**", "  Q1:", "\t**Q1**:", "Q01:"]


@pytest.mark.parametrize(
    ("reply", "letter", "blocks"),
    [
        *((f"{label} What?", "Q", ["What?"]) for label in LABELS),
        # What stands before, and labels inside or of the other letter, are text.
        ("Sure, here you are.\n\nQ1: What?", "Q", ["What?"]),
        ("A1: As A2: says, no.", "A", ["As A2: says, no."]),
        ("A1: Yes.\nQ2: No?", "A", ["Yes.\nQ2: No?"]),
        # Texts may be an object.
        ('{"A1": "Red.", "A2": "Blue."}', "A", ["Red.", "Blue."]),
        ('Sure:\n```json\n{"A1": "Red.", "A2": "Blue.",}\n```', "A", ["Red.", "Blue."]),
    ],
)
def test_a_label_is_read_in_any_of_its_usual_forms(reply, letter, blocks):
    assert parsing.parse_numbered(reply, letter, len(blocks)) == blocks


@pytest.mark.parametrize(
    "reply",
    [
        *("", "What?", "Q1: a", "Q2: b", "Q1: a\nQ3: c", "Q2: b\nQ1: a", "Q1: a\nQ1: b"),
        *("Q1: a\nQ2: b\nQ3: c", "Q1: a\nQ2: b\nQ2: c", "Q0: a\nQ1: b", "q1: a\nq2: b"),
        *("1. a\n2. b", "Q" + "1" * 5000 + ": a"),
        # An object that a text quotes does not replace the texts.
        'Q1: It says {"Q1": "p", "Q2": "q"}.\nQ2: z',
        'Q1: y\nQ2: It says {"Q1": "p", "Q2": "q"}',
        'It says {"Q1": "p", "Q2": "q"}.\n\nQ1: y\nQ2: z',
    ],
)
def test_a_missing_repeated_swapped_or_extra_number_fails_the_whole_reply(reply):
    # Shifted by one, every answer would stand under the wrong question.
    assert reason_of(parsing.parse_numbered, reply, "Q", 2) == "wrong_numbering"


def test_the_detail_says_what_was_there():
    with pytest.raises(parsing.ParseError, match=r"^Expected Q1 to Q3, the reply has Q1, Q3\.$"):
        parsing.parse_numbered("Q1: a\nQ3: c", "Q", 3)
    with pytest.raises(parsing.ParseError, match="the reply has none"):
        parsing.parse_numbered("a", "Q", 3)


@pytest.mark.parametrize("reply", ["Q1:\nQ2: b", "Q1:   \n\n\nQ2: b"])
def test_a_number_with_nothing_behind_it_is_an_empty_block(reply):
    assert reason_of(parsing.parse_numbered, reply, "Q", 2) == "empty_block"
    with pytest.raises(parsing.ParseError, match=r"^Q1 is empty\.$"):
        parsing.parse_numbered(reply, "Q", 2)


@given(st.lists(BLOCK, min_size=1, max_size=12), st.sampled_from(["{}: ", "**{}**: ", "**{}:** "]))
def test_what_is_written_in_the_form_is_read_back(blocks, form):
    reply = "\n".join(form.format(f"A{i}") + block for i, block in enumerate(blocks, start=1))
    assert parsing.parse_numbered(reply, "A", len(blocks)) == blocks


FIRST = (
    Message.from_text("system", "Role: writer."),
    Message("user", (Image("a" * 64), Text("Ask two questions."))),
)
REASON = "Expected Q1 to Q2, the reply has Q1."


def words(reason: str) -> str:
    """What a repair says for a reason."""
    part = parsing.repair_messages(FIRST, reason)[-1].parts[-1]
    assert isinstance(part, Text)
    return part.text


def test_a_repair_is_the_first_request_with_the_reason_at_its_end_and_a_second_has_both():
    system, user = once = parsing.repair_messages(FIRST, REASON)
    assert system == FIRST[0] and user.role == "user"
    assert user.parts == (*FIRST[1].parts, Text(words(REASON)))
    assert words(REASON).startswith("\n\nAgain: ")
    assert parsing.repair_messages(once, REASON)[-1].parts == (*user.parts, Text(words(REASON)))


def test_the_words_are_filled_in_and_each_repair_is_warmer():
    assert "{" not in words(REASON)
    # Each repair is warmer and a request without a temperature has none.
    warmer = {"temperature": parsing.REPAIR_TEMPERATURE, "max_tokens": 9}
    assert parsing.repair_params({"temperature": 0.0, "max_tokens": 9}, 1) == warmer
    assert parsing.repair_params({"temperature": 0.0}, 2) == {
        "temperature": 2 * parsing.REPAIR_TEMPERATURE
    }
    assert parsing.repair_params({"max_tokens": 9}, 1) == {"max_tokens": 9}


@given(st.text(st.sampled_from("</>page{}x\x00\x1f \n"), max_size=30))
@example("{reason.__class__.__mro__} {0} %(x)s $x {")
def test_no_reason_breaks_out(reason):
    said = words(reason)
    assert "</" not in said and not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", said)
    before, after = words(REASON).split(REASON)
    assert said.startswith(before) and said.endswith(after)
    if not re.search("[<\x00-\x1f]", reason) and reason == reason.strip():
        assert said == f"{before}{reason}{after}"


def test_the_version_is_a_hash_of_the_words_and_of_nothing_else():
    template = words(REASON).replace(REASON, "{reason}")
    digest = hashlib.sha256(template.encode()).hexdigest()
    assert f"repair@{digest[:8]}" == parsing.REPAIR_VERSION


TEXT = {"type": "string"}
SCHEMA = parsing.object_schema({"question": TEXT, "distractors": {"type": "array"}})
READ = {"question": "Which?", "distractors": ["a", "b"]}


def rated(reply: str) -> list[object]:
    return [found.values.get("Rating") for found in objects_in(reply, ("Rating",), ("Reason",))]


@pytest.mark.parametrize(
    "reply",
    [
        '{"question": "Which?", "distractors": ["a", "b"]}',
        'Here it is:\n```json\n{"question": "Which?", "distractors": ["a", "b",],}\n```\nDone.',
        '{"Question": "Which?", // short\n "distractors": ["a", "b"] /* two */}',
        "{“question”：“Which?”，“distractors”：[“a”，“b”]}",
        'Draft: {"question": "What?"}. Final: {"question": "Which?", "distractors": ["a", "b"]}',
        '{"question": "Which?", "distractors": ["a", "b"], "source": {"question": "What?"}}',
        'so I ask {"question": "No"}</think>{"question": "Which?", "distractors": ["a", "b"]}',
        "{a} " * 20 + "{'question': 'Which?', 'distractors': ['a', 'b']}",
    ],
)
def test_a_draft_is_the_last_object_with_all_its_names(reply: str) -> None:
    given = reply_object(reply, SCHEMA)
    assert {name: given[name] for name in READ} == READ


def test_a_draft_that_is_missing_cut_off_or_half_a_character_is_refused() -> None:
    expected = {
        "": "not_json",
        '{"question": "Which?", "distractors": ["a", "b': "not_json",
        '{"question": "The set {a} and': "not_json",
        "{'question': '" + "x" * MOST_CHARACTERS + "'}": "not_json",
        '{"question": "\\ud83d", "distractors": []}': "not_unicode",
    }
    assert {reply: reason_of(reply_object, reply, SCHEMA) for reply in expected} == expected


WRITTEN = {
    **dict.fromkeys(("8", "'8'", "8.0", "８", "8 // of 10", "8 /* fine */", "“8”", "**8**"), 8),
    **dict.fromkeys(
        ("3 + 4", "1_0", "8 of 10", "8,5", "8\n9", "1'0", '"8", "9"'), "not_an_integer"
    ),
}


@pytest.mark.parametrize(("written", "value"), WRITTEN.items())
def test_a_short_value_of_a_damaged_object_is_the_one_that_is_written(written, value):
    (given,) = rated(f"{{'Reason': 'right', 'Rating': {written}}}")
    try:
        assert read_grade(given, "It") == value
    except parsing.ParseError as error:
        assert error.reason == value


def test_two_values_of_one_name_are_both_there() -> None:
    expected = {
        '{"Rating": 8, "Rating": 3}': [8, 3],
        '{"Rating": 8, "Rating": 8}': [8],
        '{"Reason": "he says "no", "Rating": 3, and", "Rating": 8,}': [3, 8],
        '{"Reason": "it says \\"Rating\\": 3", "Rating": 8}': [8],
    }
    assert {reply: rated(reply) for reply in expected} == expected


def test_the_damaged_text_that_is_repaired_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    repair, lengths = json_repair.loads, []

    def counted(text: str, **settings: bool) -> object:
        lengths.append(len(text))
        return repair(text, **settings)

    monkeypatch.setattr(json_repair, "loads", counted)
    rated(('{"Reason":"' + 'a"b,c:' * 490 + '"Rating": }') * 50)
    assert 0 < sum(lengths) <= 3 * MOST_CHARACTERS


def test_damaged_text_with_many_brackets_or_quotation_marks_is_not_repaired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    repair = Mock(wraps=json_repair.loads)
    monkeypatch.setattr(json_repair, "loads", repair)
    for mark, most in {**dict.fromkeys("{[}]", MOST_DEPTH), **dict.fromkeys('"“”', 500)}.items():
        rated('{"Rating": 5, "Reason": "' + f"{mark}</" * (most + 1))
        assert all(call.args[0].count(mark) <= most for call in repair.call_args_list)


def test_many_values_of_many_names_are_read_in_bounded_time() -> None:
    names = [f"score {n}" for n in range(7)]
    pairs = ", ".join(f"'{name}': {value}" for name in names for value in range(60))
    found = objects_in(f"{{{pairs}}}", names)
    assert [each.values for each in found] == [dict.fromkeys(names, value) for value in range(60)]


def test_the_text_around_many_objects_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = Mock(wraps=reply_objects._NO_PROSE)
    monkeypatch.setattr(reply_objects, "_NO_PROSE", pattern)

    assert rated("Well " + '{"Rating": ""}' * 100 + "-" * 1_000) == [""] * 100
    assert len(pattern.mock_calls) <= 2


def test_the_damaged_text_that_is_decoded_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    decode, lengths = reply_objects.json_at, []

    def counted(text: str, start: int) -> tuple[object, int]:
        lengths.append(len(text) - start)
        return decode(text, start)

    monkeypatch.setattr(reply_objects, "json_at", counted)
    for end in ("", '{"b": 1, "b": 2}'):
        lengths.clear()
        assert rated('{"a":' * 90 + "[" + "1," * 200_000 + end) == []
        assert sum(lengths[:-1]) <= MOST_DEPTH * MOST_CHARACTERS
