"""Parse a provider's reply: its text, its reasoning, its finish reason, its tokens.

A reply is untrusted data: every field is checked, and anything but a completion raises BadResponse.
"""

import codecs
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import httpx2

from methods.json_text import from_json, storable, to_json
from methods.model_text import MOST_CHARACTERS, without_reasoning
from resources.files.bounded import limit_body
from resources.llm.estimate import text_tokens
from resources.llm.event_stream import read_event_stream
from resources.llm.model_spec import ModelSpec
from resources.llm.server_errors import ServerError, error_in_reply

MOST_PROMPT = 10_000_000
"""The most plausible tokens of a prompt: no model takes as many."""
MOST_HIDDEN = 200_000
"""The most plausible tokens of hidden reasoning, in addition to those of the visible text."""
MOST_ERROR = 1_000_000
"""Bytes of an error response that are read. The reason stands first; behind it, servers repeat requests
with their images. Decoded JSON can take over 40 times its bytes."""
_LONGEST_NAME = 200
"""The most characters of a model's name and of a finish reason."""
_BYTES, _LARGEST = 4, 2**62
"""The most bytes of a UTF-8 character, and the highest count that is stored in a table."""
_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message with its reasoning: the first in DeepSeek and SGLang, the second in vLLM and
Ollama."""

_ENDED_BY_ITSELF = ("stop", "end_turn", "stop_sequence", "eos", "eos_token")

_REASONING_PARTS = "reasoning_details"
"""The field of a message with its reasoning in parts, in OpenRouter, with or without `reasoning`."""


class BadResponse(Exception):
    """A reply with status 200 that is not a completion.

    Attributes:
        billed: Tokens of prompt and completion, if the reply says that it was billed.
        body: The reply.
        error: The server's error, if the reply has one in place of a completion.
    """

    def __init__(
        self,
        what: str,
        billed: tuple[int, int] | None = None,
        body: str = "",
        error: ServerError | None = None,
    ):
        super().__init__(what)
        self.billed, self.body, self.error = billed, body, error


def exceeds_limit(spec: ModelSpec) -> str:
    """Make the message for a reply that exceeds the size limit of its model's entry."""
    return (
        f"The reply is larger than the {spec.max_reply_bytes} bytes that max_reply_bytes of "
        f"{spec.name} allows: raise it if such replies are right."
    )


def _exceeds_characters(model: str, length: int) -> str:
    return (
        f"The reply of {model} has a text of {length:,} characters, and at most "
        f"{MOST_CHARACTERS:,} are read: set a lower token_limit.tokens in its entry of models.yaml if "
        "the model repeats itself."
    )


class Reply(NamedTuple):
    """A completion.

    Attributes:
        text: The answer without the reasoning; may be empty.
        called_tools: Whether the model called a tool, although none was offered.
        model: The model that the reply names.
        claimed_tokens: The token counts of the reply if they are not plausible; then the other counts
            are estimates.
        image_tokens: The prompt's tokens of images, if the server reports them, as vLLM and SGLang can.
    """

    text: str
    reasoning: str | None
    finish_reason: str
    refusal: str | None
    called_tools: bool
    prompt_tokens: int
    completion_tokens: int
    model: str | None = None
    claimed_tokens: int | None = None
    only_reasoning_field: bool = False
    """Whether the only text of the message is in a field for reasoning."""
    image_tokens: int | None = None


@dataclass
class _ReplyText:
    """The texts of a message by kind."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def add(self, content: object, kind: object = "text") -> None:
        """Add a text, a list of parts, or None. Raises TypeError for other types."""
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict):
                    own = part.get("type", kind)
                    # A text inside reasoning is reasoning.
                    self.add(part.get("text", part.get(own)), kind if own == "text" else own)
                else:
                    self.add(part, kind)
        elif isinstance(content, str):
            kinds = {
                "refusal": self.refusal,
                "thinking": self.reasoning,
                "reasoning": self.reasoning,
            }
            kinds.get(str(kind), self.text).append(content)
        elif content is not None:
            raise TypeError


def read_reply(body: bytes, model: str, prompt_tokens: Callable[[], int]) -> Reply:
    """Read the completion in a response body.

    Args:
        body: The body.
        model: The name of the model, for messages.
        prompt_tokens: Returns an estimate, for servers that send no token counts.

    Raises:
        BadResponse: The body has no complete completion.
    """
    try:
        decoded = from_json(body.removeprefix(codecs.BOM_UTF8), most=None)
    except ValueError as error:
        stream = read_event_stream(body)
        if stream.completion is None:
            counts = _counts({"usage": stream.usage})
            billed = counts if counts and _can_be(counts, 0) else None
            what = (
                "The reply is a stream of events that breaks off."
                if stream.has_events
                else f"The reply is not JSON: {error}."
            )
            raise BadResponse(what, billed, body.decode("utf-8", "replace")) from None
        decoded = stream.completion
    return reply_of(decoded, model, prompt_tokens)


def reply_of(body: object, model: str, prompt_tokens: Callable[[], int]) -> Reply:
    """Read the completion in a decoded JSON body.

    Args:
        body: The decoded body.
        model: The name of the model, for messages.
        prompt_tokens: Returns an estimate, for servers that send no token counts.

    Raises:
        BadResponse: The body has no complete completion.
    """
    counts = _counts(body)
    if (error := error_in_reply(body)) is not None:
        raise _unread(f"The reply holds an error: {error.message}", counts, body, error)
    try:
        choice = body["choices"][0]  # type: ignore[index]
        message = _message(choice)
        content, refusal = message.get("content"), message.get("refusal")
        reasonings = [*map(message.get, _REASONING_FIELDS), _reasoning_parts(message)]
        called_tools = bool(message.get("tool_calls") or message.get("function_call"))
        ended = choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError):
        raise _unread("The reply holds no message.", counts, body) from None
    collected = _ReplyText()
    try:
        collected.add(content)
        collected.add(refusal, "refusal")
    except TypeError:
        raise _unread("The reply's message is not a text.", counts, body) from None
    text, refusal = "".join(collected.text), "".join(collected.refusal)
    # Some servers put the same text into two of the fields, and some leave one blank.
    thought = [value for value in reasonings if isinstance(value, str) and value.strip()][:1]
    only_reasoning_field = bool(thought) and not (text.strip() or collected.reasoning)
    n_thought = sum(map(len, [*thought, *collected.reasoning]))
    longest = max(len(text), len(refusal), n_thought)
    if longest > MOST_CHARACTERS:
        billed = counts if counts and _can_be(counts, longest) else None
        raise ReplyTooLarge(_exceeds_characters(model, longest), billed, to_json(body))
    text, before_text = without_reasoning(text)
    reasoning = "\n".join(filter(None, [*thought, *collected.reasoning, before_text]))
    n_shown = len(text) + len(reasoning) + len(refusal)
    claimed: int | None = None
    if counts is None or not _can_be(counts, n_shown):
        estimates = prompt_tokens(), text_tokens(text) + text_tokens(reasoning)
        counts = counts or _within_total(body, *estimates)
        if not _can_be(counts, n_shown):
            claimed, counts = min(sum(counts), _LARGEST), estimates
    named = body.get("model")  # type: ignore[attr-defined]
    return Reply(
        storable(text),
        storable(reasoning) if reasoning.strip() else None,
        storable(ended)[:_LONGEST_NAME] if isinstance(ended, str) else "unknown",
        storable(refusal) or None,
        called_tools,
        *counts,
        storable(named)[:_LONGEST_NAME] if isinstance(named, str) and named else None,
        claimed,
        only_reasoning_field,
        _image_tokens(body, counts[0]),
    )


def answer_in_reasoning_field(reply: Reply, spec: ModelSpec) -> Reply:
    """Use the reasoning as the answer if the server put the answer into the reasoning field.

    The reasoning parser of a server takes a complete answer for reasoning if the model does not reason.
    This is assumed if the entry has no setting that enables reasoning and the reply ended by itself.

    Args:
        reply: The reply.
        spec: The entry of the model.
    """
    ended = reply.finish_reason.lower() in _ENDED_BY_ITSELF
    if not (reply.only_reasoning_field and reply.reasoning and ended) or spec.asks_for_reasoning():
        return reply
    if reply.refusal or reply.called_tools:
        return reply
    return reply._replace(text=reply.reasoning)


def _reasoning_parts(message: dict[str, Any]) -> str:
    """Join the reasoning parts that are texts or summaries; encrypted parts are skipped."""
    parts = message.get(_REASONING_PARTS)
    dicts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    texts = [part.get("text") or part.get("summary") for part in dicts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    """Return the message of a choice. It may be missing if the choice has another finish reason than
    `stop`, as in Gemini's replies.
    """
    stopped = isinstance(choice.get("finish_reason"), str) and choice["finish_reason"] != "stop"
    message: dict[str, Any] = (choice.get("message") or {}) if stopped else choice["message"]
    return message


def _counts(body: object) -> tuple[int, int] | None:
    """Return the tokens of prompt and completion; None if the server does not count them."""
    prompt, completion = _count(body, "prompt_tokens"), _count(body, "completion_tokens")
    # No prompt is empty: a count of 0 means that the server does not count.
    return (prompt, completion) if prompt and completion is not None else None


def _image_tokens(body: object, n_prompt: int) -> int | None:
    """Return the tokens of images in the prompt; None if not reported or implausible."""
    usage = body.get("usage") if isinstance(body, dict) else None
    details = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    count = _count({"usage": details}, "image_tokens")
    return count if count is not None and count <= n_prompt else None


def _can_be(counts: tuple[int, int], n_shown: int) -> bool:
    """Tell whether token counts are plausible for a reply with `n_shown` characters."""
    prompt, completion = counts
    return prompt <= MOST_PROMPT and completion <= MOST_HIDDEN + _BYTES * n_shown


def _within_total(body: object, prompt: int, completion: int) -> tuple[int, int]:
    """Return the estimated tokens, fitted to the server's `total_tokens` if it has that count."""
    total = _count(body, "total_tokens")
    return (min(prompt, total), max(0, total - prompt)) if total else (prompt, completion)


def _count(body: object, name: str) -> int | None:
    used = body.get("usage") if isinstance(body, dict) else None
    count = used.get(name) if isinstance(used, dict) else None
    if isinstance(count, float) and count.is_integer():
        count = int(count)
    return count if type(count) is int and count >= 0 else None


def _unread(
    what: str, counts: tuple[int, int] | None, body: object, error: ServerError | None = None
) -> BadResponse:
    billed = counts if counts and _can_be(counts, 0) else None
    return BadResponse(what, billed, to_json(body), error)


class ReplyTooLarge(BadResponse):
    """A response's body is larger than the model's entry allows, and the rest of it was not read; or
    its text is longer than `MOST_CHARACTERS`.
    """


def limit_replies(spec: ModelSpec) -> Callable[[httpx2.Response], Awaitable[None]]:
    """Make a response hook of an HTTP client that limits the size of replies and cuts errors."""

    async def hook(response: httpx2.Response) -> None:
        cut = math.inf if response.is_success else MOST_ERROR
        limit_body(response, spec.max_reply_bytes, lambda: ReplyTooLarge(exceeds_limit(spec)), cut)

    return hook
