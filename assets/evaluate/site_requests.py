"""Requests to models in the sample browser: requests from the ledger, and texts of prompts."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from methods.errors import UserError
from methods.evaluation.benchmark import Benchmark
from methods.ids import canonical_json
from resources.llm.ledger import Call
from resources.settings.prompts import prompt

MOST_CHARACTERS = 20_000
"""Longest text of a request that the browser shows; longer texts are cut."""
_IN_LEDGER_ONLY = ("messages", "schema")


def requests_of(calls: Sequence[Call]) -> dict[str, Any]:
    """Return the requests of an item as they were sent; images are named by their SHA-256.

    Requests of a dialogue repeat its history, so equal messages are stored once.

    Args:
        calls: The calls of the ledger that answered the item.

    Returns:
        `messages` and `settings` are lists of distinct values. `calls` has, by call key, an index into
        `settings` and indices into `messages`.
    """
    messages: dict[str, tuple[int, Any]] = {}
    settings: dict[str, tuple[int, Any]] = {}
    keys = {}
    for call in calls:
        sent = call.request.get("messages")
        others = {
            name: value for name, value in call.request.items() if name not in _IN_LEDGER_ONLY
        }
        keys[call.key] = [
            _place_of(settings, others),
            [
                _place_of(messages, _message(message))
                for message in (sent if isinstance(sent, list) else [])
            ],
        ]
    return {
        "messages": [message for _, message in messages.values()],
        "settings": [each for _, each in settings.values()],
        "calls": keys,
    }


def _place_of(values: dict[str, tuple[int, Any]], value: Any) -> int:
    return values.setdefault(canonical_json(value), (len(values), value))[0]


def _message(message: Mapping[str, Any]) -> list[Any]:
    """Return the role and the parts of a message; a text is cut at `MOST_CHARACTERS`."""
    return [message["role"], [_part(part) for part in message["parts"]]]


def _part(part: Any) -> Any:
    if not isinstance(part, str) or len(part) <= MOST_CHARACTERS:
        return part
    return f"{part[:MOST_CHARACTERS]} … ({len(part) - MOST_CHARACTERS:,} more characters)"


def prompt_text(version: str, benchmark: Benchmark | None) -> str | None:
    """Return the text of the prompts that a version names, and of the benchmark's docstring of `ask`.

    Args:
        version: A version of a prompt, or of a benchmark's requests, which is the benchmark's own
            version and those of its prompts.
        benchmark: The benchmark of the release.

    Returns:
        The text; None if a part of the version differs from the installed project's.
    """
    texts = []
    for part in version.partition(" context=")[0].split(" "):
        if benchmark is not None and part == benchmark.answer_version:
            texts.append(f"{benchmark.name} asks: {inspect.getdoc(benchmark.ask) or part}")
            continue
        try:
            template = prompt(part.partition("@")[0])
        except (UserError, ValueError):
            return None
        if template.version != part:
            return None
        texts.append(template.text)
    return "\n\n".join(texts)
