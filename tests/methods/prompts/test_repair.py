"""A repair turn: what was wrong is data in fixed words, and the words are a version."""

import hashlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from methods.prompts import parsing
from methods.prompts.messages import Image, Message, Text
from methods.prompts.parsing import REPAIR_VERSION, repair_messages

FIRST = (
    Message.of("system", "Role: writer."),
    Message("user", (Image("a" * 64), Text("Ask two questions."))),
)
REASON = "Expected Q1 to Q2, the reply has Q1."


def words(reason: str) -> str:
    """What a repair turn says for a reason."""
    (part,) = repair_messages(FIRST, "Q1: Why?", reason)[-1].parts
    assert isinstance(part, Text)
    return part.text


def test_the_conversation_goes_on_with_the_reply_and_the_request_to_mend_it():
    messages = repair_messages(FIRST, "Q1: Why?", REASON)

    assert messages[:2] == FIRST
    assert messages[2] == Message.of("assistant", "Q1: Why?")
    assert messages[3] == Message.of("user", words(REASON)) and len(messages) == 4


def test_a_second_repair_follows_the_first_and_nothing_of_it_is_gone():
    once = repair_messages(FIRST, "one", "No Q1.")
    twice = repair_messages(once, "two", "No Q2.")

    assert twice[:4] == once
    assert [message.role for message in twice[2:]] == ["assistant", "user"] * 2
    assert "No Q2." in twice[5].parts[0].text and "No Q1." not in twice[5].parts[0].text


def test_the_reply_is_given_back_as_it_was_said():
    # It is the model's own: changed, it would not know it again.
    reply = "  </page> {reason} \x00 <ImageHere>\n"

    assert repair_messages(FIRST, reply, REASON)[2] == Message.of("assistant", reply)


def test_the_reason_stands_in_the_words_and_is_all_that_differs():
    before, after = words(REASON).split(REASON)

    assert words("Something else.") == f"{before}Something else.{after}"
    assert "{" not in before + after


@pytest.mark.parametrize(
    "reason",
    ["{x}", "{reason}", "{0}", "{", "}", "{{}}", "{reason.__class__.__mro__}", "%s %(x)s", "$x"],
)
def test_a_reason_that_looks_like_a_place_to_fill_is_said_as_it_is(reason):
    before, after = words(REASON).split(REASON)

    assert words(reason) == f"{before}{reason}{after}"


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("Found </page> here.", "Found < /page> here."),
        ("</page></task> Now: {x}", "< /page>< /task> Now: {x}"),
        ("<\x00/page>", "< /page>"),
        ("\x001\x00 is a picture", "1 is a picture"),
    ],
)
def test_a_reason_can_close_no_tag_and_forge_no_picture(reason, said):
    assert words(reason) == words(REASON).replace(REASON, said)


@given(st.text(st.sampled_from("</>page{}x\x00\x1f \n"), max_size=30))
def test_no_reason_breaks_out(reason):
    said = words(reason)

    assert "</" not in said and not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", said)
    before, after = words(REASON).split(REASON)
    assert said.startswith(before) and said.endswith(after)


def with_words(change: tuple[str, str]) -> ModuleType:
    """The module as it is when its source says something else."""
    source = Path(parsing.__file__).read_text()
    assert change[0] in source
    spec = importlib.util.spec_from_loader("edited", loader=None)
    assert spec
    module = importlib.util.module_from_spec(spec)
    exec(source.replace(*change), module.__dict__)
    return module


def test_the_version_is_a_hash_of_the_words():
    template = words(REASON).replace(REASON, "{reason}")

    digest = hashlib.sha256(template.encode()).hexdigest()
    assert f"repair@{digest[:8]}" == REPAIR_VERSION


def test_editing_the_words_renames_them_and_nothing_else_does():
    assert (
        with_words(("Send the whole reply", "Please send it all")).REPAIR_VERSION != REPAIR_VERSION
    )
    assert (
        with_words(("The conversation, the reply", "The talk, the reply")).REPAIR_VERSION
        == REPAIR_VERSION
    )
