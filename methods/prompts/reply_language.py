"""Language of replies: adds the instruction to reply in another language to an English prompt."""

from collections.abc import Sequence
from dataclasses import replace

from methods.prompts.messages import Message, Text

LANGUAGE_OF_PROMPTS = "en"
"""A reply in this language needs no instruction."""


def with_reply_language(messages: Sequence[Message], name: str) -> tuple[Message, ...]:
    """Add an instruction to the first message: to write the texts of the reply in a language.

    Args:
        messages: The messages of a prompt, at least one.
        name: The English name of the language.
    """
    instruction = (
        f"\n\nWrite all texts of your reply in {name}. Names of fields, labels of questions and "
        "answers, and tokens such as <image-1> stay as they are."
    )
    first, *others = messages
    return (replace(first, parts=(*first.parts, Text(instruction))), *others)
