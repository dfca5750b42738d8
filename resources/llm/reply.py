"""Reading a provider's reply: what it says, why it ended, what it used.

What belongs here: the shape of a chat completion on the wire. A reply is data from outside: every
field is checked, and what is no completion is a BadResponse.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from resources.llm.estimate import text_tokens

_MOST = 2**31
"""No reply has as many tokens: what a server counts beyond is no count."""


class BadResponse(Exception):
    """A reply with status 200 that holds no completion."""


class Reply(NamedTuple):
    """A whole completion; `text` is empty when nothing was said or the filter withheld it."""

    text: str
    finish_reason: str
    refusal: str | None
    prompt_tokens: int
    completion_tokens: int


def read_reply(body: bytes, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a response's body. Raises BadResponse unless it is there and whole.

    `prompt_tokens` gives the estimate that stands in where the server counts none, as some servers of
    open models do: the answer was paid for, and asking again would bring no count.
    """
    try:
        return reply_of(json.loads(body), prompt_tokens)
    except (ValueError, RecursionError) as error:
        raise BadResponse(f"The reply is no JSON: {error}.") from None


def reply_of(body: object, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a decoded body, as `read_reply` reads it. Raises BadResponse."""
    try:
        choice = body["choices"][0]  # type: ignore[index]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        used = body.get("usage")  # type: ignore[attr-defined]
    except (LookupError, TypeError, AttributeError):
        raise BadResponse("The reply holds no message.") from None
    if not all(isinstance(each, str | None) for each in (text, refusal)):
        raise BadResponse("The reply's message is no text.")
    counts: dict[str, Any] = used if isinstance(used, dict) else {}
    n_prompt: Any = counts.get("prompt_tokens")
    n_completion: Any = counts.get("completion_tokens")
    if not all(type(count) is int and 0 <= count < _MOST for count in (n_prompt, n_completion)):
        n_prompt, n_completion = prompt_tokens(), text_tokens(text or "")
    ended = choice.get("finish_reason")
    return Reply(
        storable(text or ""),
        storable(ended) if isinstance(ended, str) else "unknown",
        storable(refusal) if refusal else None,
        n_prompt,
        n_completion,
    )


def storable(text: str) -> str:
    """`text` with halves of surrogate pairs replaced: no database takes them, and one such answer
    would take down the others that are committed with it."""
    return text.encode("utf-8", "replace").decode()
