"""A repair: what was wrong is data in fixed words, and the words are a version."""

import hashlib
import re

from hypothesis import example, given
from hypothesis import strategies as st

from methods.prompts.messages import Image, Message, Text
from methods.prompts.parsing import (
    REPAIR_TEMPERATURE,
    REPAIR_VERSION,
    repair_messages,
    repair_params,
)

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
