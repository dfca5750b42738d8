"""JSON objects in a reply, wherever they stand: after reasoning, in a fence, before a remark.

What belongs here: finding them. What a reply has to hold says who asked for it.
"""

import json
import re
from collections.abc import Iterator

from methods.prompts.parsing import require_unicode

_THINKING = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)


def without_thinking(text: str) -> str:
    """The text without the reasoning that stands before it in tags."""
    return _THINKING.sub("", text)


def objects_in(text: str) -> Iterator[dict[str, object]]:
    """The JSON objects in a text, outermost ones, in order; their keys in lower case.

    Raises ParseError (`not_unicode`) where a text in one has half a character.
    """
    decoder = json.JSONDecoder(strict=False)
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
        else:
            require_unicode(value)
            yield {key.strip().lower(): each for key, each in value.items()}
        start = text.find("{", end)
