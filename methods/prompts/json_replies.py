"""JSON objects in a reply, wherever they stand: after reasoning, in a fence, before a remark.

What belongs here: finding them. What a reply has to hold says who asked for it.
"""

import re
from collections.abc import Iterator

from methods.json_text import TooDeep, json_at
from methods.prompts.parsing import require_unicode

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
            yield {key.strip().lower(): each for key, each in value.items()}
        start = text.find("{", end)
