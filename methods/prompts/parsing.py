"""Reading numbered blocks out of a model's reply.

What belongs here: the typed error of a reply that cannot be read, and the reading of numbered
questions and answers. A reply is data: it is searched and parsed, never evaluated.
"""

import json
import re
from collections.abc import Mapping

JsonSchema = Mapping[str, object]


class ParseError(ValueError):
    """A reply that cannot be read; `reason` is a short code to count by, `detail` a sentence."""

    def __init__(self, reason: str, detail: str):
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


def parse_numbered(text: str, letter: str, expected: int) -> list[str]:
    """The texts behind `Q1:`, `Q2:` … (or `**A1**:` …, by `letter`), in order of their numbers.

    Each must be there once and hold something, 1 to `expected`; a text runs to the next number.
    Raises ParseError otherwise: a shifted answer is worse than none. A JSON object with these labels
    as names, as `numbered_schema` asks for it, says the same.
    """
    given = json_object(text)
    if given is not None:
        _require_numbers(list(given), letter, expected)
        texts = [value for value in given.values() if isinstance(value, str)]
        if len(texts) < len(given):
            raise ParseError("not_a_text", f"Some of {letter}1 to {letter}{expected} are no texts.")
        return _all_there([text.strip() for text in texts], letter)
    label = re.compile(rf"^[ \t]*(?:\*\*)?{letter}(\d+)(?:\*\*)?[:.)](?:\*\*)?[ \t]*", re.MULTILINE)
    matches = list(label.finditer(text))
    # Nine digits are wrong enough: int() refuses thousands of them with an error of its own.
    _require_numbers([f"{letter}{int(match[1][:9])}" for match in matches], letter, expected)
    ends = [match.start() for match in matches[1:]] + [len(text)]
    blocks = [text[match.end() : end].strip() for match, end in zip(matches, ends, strict=True)]
    return _all_there(blocks, letter)


def _require_numbers(labels: list[str], letter: str, expected: int) -> None:
    if labels != [f"{letter}{n}" for n in range(1, expected + 1)]:
        raise ParseError(
            "wrong_numbering",
            f"Expected {letter}1 to {letter}{expected}, the reply has {', '.join(labels) or 'none'}.",
        )


def _all_there(blocks: list[str], letter: str) -> list[str]:
    if not all(blocks):
        raise ParseError("empty_block", f"{letter}{blocks.index('') + 1} is empty.")
    return blocks


def numbered_schema(letter: str, expected: int) -> JsonSchema:
    """JSON schema of a reply with the texts `Q1` to `Qn` (by `letter`) and nothing else."""
    return object_schema({f"{letter}{n}": {"type": "string"} for n in range(1, expected + 1)})


def object_schema(properties: Mapping[str, JsonSchema]) -> JsonSchema:
    """JSON schema of an object that has all of these properties and no other."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def json_object(text: str) -> dict[str, object] | None:
    """The object that `text` is in JSON from its first sign to its last; None for anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
