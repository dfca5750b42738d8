"""Parsing of a model's reply, numbered texts or JSON, and asking again where it could not be parsed.

What belongs here: ParseError, parsing numbered texts, and the JSON schemas of such replies. A reply is
data: it is searched and parsed, never evaluated.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from methods.json_text import TooDeep, from_json, is_unicode, json_at
from methods.prompts.messages import Message
from methods.prompts.template import as_data

_REPAIR_TEXT = """\
Again: your last reply could not be used, because it is not in the form that was asked for. What
is wrong with it: {reason}
Send the whole reply once more, complete, in exactly the form that was asked for, and nothing
else."""

REPAIR_VERSION = f"repair@{hashlib.sha256(_REPAIR_TEXT.encode()).hexdigest()[:8]}"
"""Version of the repair text, by its hash."""


def repair_messages(messages: tuple[Message, ...], reply: str, reason: str) -> tuple[Message, ...]:
    """The conversation, the reply that could not be parsed, and the request to repeat it correctly.

    `reason` is a sentence that tells the model what is wrong with the reply.
    """
    again = Message.of("user", _REPAIR_TEXT.format(reason=as_data(reason)))
    return (*messages, Message.of("assistant", reply), again)


JsonSchema = Mapping[str, object]

_FENCED = re.compile(r"\s*```[\w-]*[ \t]*\n(.*?)\n?```\s*", re.DOTALL)
_WORDS = {"Q": "Question", "A": "Answer"}


class ParseError(ValueError):
    """A reply that cannot be parsed; `reason` is a short code for counts, `detail` a sentence."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def parse_numbered(text: str, letter: str, expected: int) -> list[str]:
    """The texts after `Q1:`, `Question 2.`, `**Q3**:`, `### Q4:` … (by `letter`), in order of numbers.

    Each number from 1 to `expected` must occur once, in order, with a text that is not empty; a text
    ends at the next number. A number of three digits is none: "A320: a short aircraft". A JSON object
    with these labels as names (`numbered_schema`) is accepted too. Raises ParseError otherwise, because
    an answer under the wrong number is worse than none.
    """
    text = unfenced(text)
    given = json_object(text)
    if given is not None:
        _require_numbers(list(given), letter, expected)
        texts = [value for value in given.values() if isinstance(value, str)]
        if len(texts) < len(given):
            raise ParseError("not_a_text", f"Some of {letter}1 to {letter}{expected} are no texts.")
        return _require_texts([text.strip() for text in texts], letter)
    word = f"{_WORDS[letter]}[ \t]+" if letter in _WORDS else letter
    label = re.compile(
        rf"^[ \t]*(?:#{{1,6}}[ \t]*)?(?:\*\*)?(?:{letter}|{word})(\d\d?)(?:\*\*)?[:.)](?:\*\*)?[ \t]*",
        re.MULTILINE,
    )
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
    """JSON schema of a reply with exactly the texts `Q1` to `Qn` (by `letter`)."""
    return object_schema({f"{letter}{n}": {"type": "string"} for n in range(1, expected + 1)})


def object_schema(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """JSON schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def json_object(text: str) -> dict[str, object] | None:
    """The JSON object that `text` consists of; None if it is anything else.

    Raises ParseError (`not_unicode`) where a text in it has half a character.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = from_json(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    require_unicode(value)
    return value


def require_unicode(value: object) -> None:
    """Raise ParseError (`not_unicode`) where a text in a JSON value has half a character.

    JSON can spell a lone surrogate, which no table and no file can hold.
    """
    if not is_unicode(json.dumps(value, ensure_ascii=False)):
        raise ParseError(
            "not_unicode", "A text of the reply has half a character (a lone surrogate)."
        )


def reply_object(reply: str) -> dict[str, object]:
    """The JSON object that a reply consists of, in a fence or bare. Raises ParseError."""
    given = json_object(unfenced(reply))
    if given is None:
        raise ParseError("not_json", "The reply is not one JSON object.")
    return given


def unfenced(text: str) -> str:
    """The text inside the fence that it consists of; the text itself if it is in none."""
    inside = _FENCED.fullmatch(text)
    return inside[1] if inside else text


_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)


def without_thinking(text: str) -> str:
    """The text without the reasoning that stands before it in tags."""
    return _THINKING.sub("", text)


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects in a text, outermost ones, in order; their keys in lower case.

    Raises ParseError (`not_unicode`) where a text in one has half a character.
    """
    start = text.find("{")
    while start >= 0:
        try:
            value, end = json_at(text, start)
        except TooDeep:
            return  # Each object in it would be looked through in vain.
        except ValueError:
            end = start + 1
        else:
            require_unicode(value)
            yield {key.strip().lower(): content for key, content in value.items()}
        start = text.find("{", end)
