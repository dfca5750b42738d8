"""Parsing of numbered texts in a model's reply, and repair requests if a reply cannot be parsed.

Replies are parsed, never evaluated as code.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace

from methods.prompts.messages import Message, Text
from methods.prompts.parse_error import ParseError
from methods.prompts.prompt_template import as_data
from methods.prompts.reply_objects import objects_in, text_outside

_REPAIR_TEXT = """\


Again: your last reply could not be used, because it is not in the form that was asked for. What
is wrong with it: {reason}
Send a whole reply, complete, in exactly the form that was asked for, and nothing else. Do not repeat
the last one."""

REPAIR_VERSION = f"repair@{hashlib.sha256(_REPAIR_TEXT.encode()).hexdigest()[:8]}"
"""Version of the repair text, by its hash."""


REPAIR_TEMPERATURE = 0.4
"""Added to the temperature by each repair, as models at 0 repeat their reply. Chosen by hand."""


def repair_messages(messages: tuple[Message, ...], reason: str) -> tuple[Message, ...]:
    """Make the messages of a repair request, after a reply could not be parsed.

    The reply is not shown to the model, because small models would repeat it.

    Args:
        messages: The messages of the request, or of its first repair. The last is the user's message.
        reason: A sentence that says what is wrong with the last reply.

    Returns:
        The same messages, the last one with the reason at its end.
    """
    *before, last = messages
    again = Text(_REPAIR_TEXT.format(reason=as_data(reason)))
    return (*before, replace(last, parts=(*last.parts, again)))


def repair_params(
    params: Mapping[str, float | int | str], n_repairs: int
) -> dict[str, float | int | str]:
    """Raise the temperature for a repair.

    If the request sets no temperature, neither do its repairs. The settings of a model may override it.

    Args:
        params: The sampling parameters of the request.
        n_repairs: The number of the repair, from 1.

    Returns:
        The parameters of the repair.
    """
    temperature = params.get("temperature")
    if not isinstance(temperature, (int, float)):
        return dict(params)
    return {**params, "temperature": round(temperature + n_repairs * REPAIR_TEMPERATURE, 3)}


JsonSchema = Mapping[str, object]

_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
_WORDS = {"Q": "Question", "A": "Answer"}


def parse_numbered(text: str, letter: str, expected: int) -> list[str]:
    """Parse numbered texts: `Q1:`, `Question 2.`, `**Q3**:`, `### Q4:` and the like.

    Each number must occur once, in order, because an answer under a wrong number is worse than none. A
    text ends at the next label. A number of three digits is not a label ("A320: a short aircraft"). A
    JSON object with the labels as names (`numbered_schema`) is accepted, too, but not in a text: the
    text may only quote it.

    Args:
        text: The reply.
        letter: The letter of the labels, such as Q.
        expected: The number of texts.

    Returns:
        The texts in order.

    Raises:
        ParseError: A number is missing, repeated or out of order, or a text is empty.
    """
    labels = [f"{letter}{n}" for n in range(1, expected + 1)]
    word = f"{_WORDS[letter]}[ \t]+" if letter in _WORDS else letter
    label = re.compile(
        rf"^[ \t]*(?:#{{1,6}}[ \t]*)?(?:\*\*)?(?:{letter}|{word})(\d\d?)(?:\*\*)?[:.)](?:\*\*)?[ \t]*",
        re.MULTILINE,
    )
    if objects := objects_in(text, (), labels, only_whole=True):
        if label.search(text_outside(objects)):
            raise ParseError(
                "wrong_numbering",
                f"The reply has {letter}1 to {letter}{expected} in a JSON object and in the text. "
                "Send one of them.",
            )
        numbered = objects[-1].values
        _require_numbers(list(numbered), letter, expected)
        texts = [value for value in numbered.values() if isinstance(value, str)]
        if len(texts) < len(numbered):
            raise ParseError(
                "not_a_text", f"Some of {letter}1 to {letter}{expected} are not texts."
            )
        return _require_texts([text.strip() for text in texts], letter)
    text = unfenced(text)
    matches = list(label.finditer(text))
    _require_numbers([f"{letter}{int(match[1])}" for match in matches], letter, expected)
    ends = [match.start() for match in matches[1:]] + [len(text)]
    blocks = [text[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)]
    return _require_texts(blocks, letter)


def _require_numbers(labels: list[str], letter: str, expected: int) -> None:
    if labels != [f"{letter}{n}" for n in range(1, expected + 1)]:
        raise ParseError(
            "wrong_numbering",
            f"Expected {letter}1 to {letter}{expected}, the reply has {', '.join(labels) or 'none'}.",
        )


def _require_texts(blocks: list[str], letter: str) -> list[str]:
    if not all(blocks):
        raise ParseError("empty_block", f"{letter}{blocks.index('') + 1} is empty.")
    return blocks


def numbered_schema(letter: str, expected: int) -> JsonSchema:
    """Make the JSON schema of a reply with numbered texts.

    Args:
        letter: The letter of the labels, such as Q.
        expected: The number of texts.

    Returns:
        The schema of an object with exactly the texts `Q1` to `Qn`.
    """
    return object_schema({f"{letter}{n}": {"type": "string"} for n in range(1, expected + 1)})


def object_schema(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """Make the JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def unfenced(text: str) -> str:
    """Remove a code fence around the whole text."""
    inside = _FENCED.fullmatch(text)
    return inside[1] if inside else text
