"""Numbered blocks in a model's reply: all of them in their order, or a typed error."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts.parsing import ParseError, parse_numbered

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
