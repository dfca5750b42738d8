"""Read completions that arrive as server-sent events (streaming) although no stream was requested."""

from collections import defaultdict
from typing import Any, NamedTuple

from methods.json_text import from_json

_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
"""Fields of a delta whose texts are joined."""
_MOST_EVENTS = 200_000
"""The most lines that are read; far more than a completion has."""


class EventStream(NamedTuple):
    """The content of a response body of server-sent events.

    Attributes:
        completion: The completion in the format of a reply without a stream. None if the stream breaks
            off before its last event, or if the body is not a stream.
        usage: The last token counts.
        has_events: Whether the body has events with data.
    """

    completion: dict[str, Any] | None
    usage: object
    has_events: bool


def read_event_stream(body: bytes) -> EventStream:
    """Read a body of server-sent events: whole completions or chunks, `[DONE]`, comments.

    JSON outside of events is read, too: some servers put `data: [DONE]` after a plain reply, or
    keep-alive comments before it.
    """
    try:
        text = body.decode().lstrip("\ufeff")
    except UnicodeDecodeError:
        return EventStream(None, None, False)
    chunks: list[dict[str, Any]] = []
    outside: list[str] = []
    n_events, is_done = 0, False
    for line in text.splitlines()[:_MOST_EVENTS]:
        field, colon, value = line.partition(":")
        if colon and field == "data":
            n_events += 1
            is_done = is_done or value.strip() == "[DONE]"
            if isinstance(chunk := _decoded(value), dict):
                chunks.append(chunk)
        elif line.strip() and not (colon and field in ("", "event", "id", "retry")):
            outside.append(line)
    if outside:
        whole = _decoded("\n".join(outside))
        chunks = [whole] if isinstance(whole, dict) else []
    usages = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    usage = usages[-1] if usages else None
    return EventStream(_completion(chunks, usage, is_done), usage, n_events > 0)


def _completion(
    chunks: list[dict[str, Any]], usage: object, is_done: bool
) -> dict[str, Any] | None:
    for chunk in chunks:
        choice = _first_choice(chunk)
        # An event with a complete message or an error is the whole reply.
        if (choice is not None and "message" in choice) or chunk.get("error"):
            return chunk
    deltas = [choice for chunk in chunks if (choice := _first_choice(chunk)) is not None]
    ends = [choice["finish_reason"] for choice in deltas if choice.get("finish_reason")]
    if not deltas or not (ends or is_done):
        return None
    message: dict[str, Any] = {"role": "assistant"}
    parts: dict[str, list[str]] = defaultdict(list)
    for choice in deltas:
        delta = choice.get("delta")
        for name in _TEXTS:
            if isinstance(delta, dict) and isinstance(part := delta.get(name), str):
                parts[name].append(part)
        if isinstance(delta, dict) and delta.get("tool_calls"):
            message["tool_calls"] = delta["tool_calls"]
    message |= {name: "".join(texts) for name, texts in parts.items()}
    choice = {"index": 0, "message": message, "finish_reason": ends[-1] if ends else None}
    return {**chunks[0], "choices": [choice], "usage": usage}


def _first_choice(chunk: dict[str, Any]) -> dict[str, Any] | None:
    choices = chunk.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _decoded(text: str) -> object:
    try:
        return from_json(text)
    except ValueError:
        return None
