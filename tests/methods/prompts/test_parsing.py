"""Numbered blocks in a reply, all in their order or a typed error; a repair is data in fixed words."""

import hashlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from methods.prompts.messages import Image, Message, Text
from methods.prompts.parsing import (
    REPAIR_TEMPERATURE,
    REPAIR_VERSION,
    ParseError,
    parse_numbered,
    repair_messages,
    repair_params,
)

# No mark that ends a label is in here, so that no block holds a label of its own.
BLOCK = st.text("aQA1 \n*é<>-", min_size=1, max_size=30).map(str.strip).filter(bool)


def reason_of(text: str, letter: str, expected: int) -> str:
    with pytest.raises(ParseError) as caught:
        parse_numbered(text, letter, expected)
    assert str(caught.value) == caught.value.detail and caught.value.detail.endswith(".")
    return caught.value.reason


@pytest.mark.parametrize(
    "label", ["Q1:", "Q1.", "Q1)", "**Q1**:", "**Q1:**", "**Q1.**", "  Q1:", "\t**Q1**:", "Q01:"]
)
def test_a_label_is_read_in_any_of_its_usual_forms(label):
    assert parse_numbered(f"{label} What?", "Q", 1) == ["What?"]


@pytest.mark.parametrize(
    ("reply", "letter", "block"),
    [
        ("Sure, here you are.\n\nQ1: What?", "Q", "What?"),
        ("A1: As A2: says, no.", "A", "As A2: says, no."),
        ("A1: Yes.\nQ2: No?", "A", "Yes.\nQ2: No?"),
    ],
)
def test_what_stands_before_and_labels_inside_or_of_the_other_letter_are_text(reply, letter, block):
    assert parse_numbered(reply, letter, 1) == [block]


@pytest.mark.parametrize(
    "reply",
    [
        *("", "What?", "Q1: a", "Q2: b", "Q1: a\nQ3: c", "Q2: b\nQ1: a", "Q1: a\nQ1: b"),
        *("Q1: a\nQ2: b\nQ3: c", "Q1: a\nQ2: b\nQ2: c", "Q0: a\nQ1: b", "q1: a\nq2: b"),
        *("1. a\n2. b", "Q" + "1" * 5000 + ": a"),
    ],
)
def test_a_missing_repeated_swapped_or_extra_number_fails_the_whole_reply(reply):
    # Shifted by one, every answer would stand under the wrong question.
    assert reason_of(reply, "Q", 2) == "wrong_numbering"


@pytest.mark.parametrize(
    "reply",
    [
        'A1: It says {"A1": "p", "A2": "q"}.\nA2: z',
        'A1: y\nA2: It says {"A1": "p", "A2": "q"}',
        'It says {"A1": "p", "A2": "q"}.\n\nA1: y\nA2: z',
    ],
)
def test_an_object_that_a_text_quotes_does_not_replace_the_texts(reply):
    assert reason_of(reply, "A", 2) == "wrong_numbering"


def test_the_detail_says_what_was_there():
    with pytest.raises(ParseError, match=r"^Expected Q1 to Q3, the reply has Q1, Q3\.$"):
        parse_numbered("Q1: a\nQ3: c", "Q", 3)
    with pytest.raises(ParseError, match="the reply has none"):
        parse_numbered("a", "Q", 3)


@pytest.mark.parametrize("reply", ["Q1:\nQ2: b", "Q1:   \n\n\nQ2: b"])
def test_a_number_with_nothing_behind_it_is_an_empty_block(reply):
    assert reason_of(reply, "Q", 2) == "empty_block"
    with pytest.raises(ParseError, match=r"^Q1 is empty\.$"):
        parse_numbered(reply, "Q", 2)


@given(st.lists(BLOCK, min_size=1, max_size=12), st.sampled_from(["{}: ", "**{}**: ", "**{}:** "]))
def test_what_is_written_in_the_form_is_read_back(blocks, form):
    reply = "\n".join(form.format(f"A{i}") + block for i, block in enumerate(blocks, start=1))
    assert parse_numbered(reply, "A", len(blocks)) == blocks


FIRST = (
    Message.from_text("system", "Role: writer."),
    Message("user", (Image("a" * 64), Text("Ask two questions."))),
)
REASON = "Expected Q1 to Q2, the reply has Q1."


def words(reason: str) -> str:
    """What a repair says for a reason."""
    part = repair_messages(FIRST, reason)[-1].parts[-1]
    assert isinstance(part, Text)
    return part.text


def test_a_repair_is_the_first_request_with_the_reason_at_its_end_and_a_second_has_both():
    system, user = once = repair_messages(FIRST, REASON)
    assert system == FIRST[0] and user.role == "user"
    assert user.parts == (*FIRST[1].parts, Text(words(REASON)))
    assert words(REASON).startswith("\n\nAgain: ")
    assert repair_messages(once, REASON)[-1].parts == (*user.parts, Text(words(REASON)))


def test_the_reason_is_all_that_differs_and_each_repair_is_warmer():
    before, after = words(REASON).split(REASON)
    assert words("Something else.") == f"{before}Something else.{after}"
    assert "{" not in before + after
    # Each repair is warmer and a request without a temperature has none.
    warmer = {"temperature": REPAIR_TEMPERATURE, "max_tokens": 9}
    assert repair_params({"temperature": 0.0, "max_tokens": 9}, 1) == warmer
    assert repair_params({"temperature": 0.0}, 2) == {"temperature": 2 * REPAIR_TEMPERATURE}
    assert repair_params({"max_tokens": 9}, 1) == {"max_tokens": 9}


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
    assert f"repair@{digest[:8]}" == REPAIR_VERSION
