"""Parsing a provider's reply: its text, its finish reason, its tokens.

What belongs here: the JSON format of a chat completion. A reply is untrusted data: every field is
checked, and anything but a completion is a BadResponse.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from resources.llm.estimate import text_tokens

_MOST = 2**31
"""No reply has as many tokens: a higher count is not believed."""


class BadResponse(Exception):
    """A reply with status 200 that holds no completion."""


class Reply(NamedTuple):
    """A complete answer; `text` is empty if the model said nothing or a filter withheld it."""

    text: str
    finish_reason: str
    refusal: str | None
    prompt_tokens: int
    completion_tokens: int


def read_reply(body: bytes, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a response's body. Raises BadResponse unless it is there and complete.

    `prompt_tokens` gives the estimate that is used where the server sends no counts, as some servers
    of open models do: the answer is good, and sending the request again would bring no counts.
    """
    try:
        return reply_of(json.loads(body), prompt_tokens)
    except (ValueError, RecursionError) as error:
        raise BadResponse(f"The reply is no JSON: {error}.") from None


def reply_of(body: object, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a decoded JSON body, as for `read_reply`. Raises BadResponse."""
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
    """`text` with lone surrogates replaced.

    No database stores them, and one such answer would make the commit of others fail.
    """
    return text.encode("utf-8", "replace").decode()
