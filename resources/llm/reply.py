"""Parsing a provider's reply: its text, its reasoning, its finish reason, its tokens.

What belongs here: the JSON format of a chat completion, as the servers that speak it write it. A reply
is untrusted data: every field is checked, and anything but a completion is a BadResponse. Whether a
completion is an answer is decided in `ledger_entries.py`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from resources.llm.estimate import text_tokens
from resources.llm.model_spec import ModelSpec
from resources.llm.thinking import without_thinking

_MOST = 2**31
"""No reply has as many tokens: a higher count is not believed."""
_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Fields of a message with its reasoning: of DeepSeek and SGLang, of vLLM and Ollama."""


class BadResponse(Exception):
    """A reply with status 200 that holds no completion.

    `billed` has its tokens of prompt and completion if it says that it was billed, `body` what came.
    """

    def __init__(self, what: str, billed: tuple[int, int] | None = None, body: str = ""):
        super().__init__(what)
        self.billed, self.body = billed, body


def exceeds_limit(spec: ModelSpec) -> str:
    """What is said of a reply that is larger than its model's entry allows, live or in a batch."""
    return (
        f"The reply is larger than the {spec.max_reply_bytes} bytes that max_reply_bytes of "
        f"{spec.name} allows: raise it if such replies are right."
    )


class Reply(NamedTuple):
    """A completion; `text` is what was said, without the reasoning, and may be empty.

    `called_tools` says that the model asked for a tool, which nobody offered.
    """

    text: str
    reasoning: str | None
    finish_reason: str
    refusal: str | None
    called_tools: bool
    prompt_tokens: int
    completion_tokens: int


@dataclass
class _Said:
    """What a message says, by what it is."""

    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)

    def add(self, content: object, kind: object = "text") -> None:
        """Add a text, nothing, or a list of parts. Raises TypeError for anything else."""
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict):
                    of = part.get("type", kind)
                    # A text inside reasoning is reasoning.
                    self.add(part.get("text", part.get(of)), kind if of == "text" else of)
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


def read_reply(body: bytes, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a response's body. Raises BadResponse unless it is there and complete.

    `prompt_tokens` gives the estimate that is used where the server sends no counts, as some servers
    of open models do: the answer is good, and sending the request again would bring no counts.
    """
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadResponse(f"The reply is no JSON: {error}.") from None
    return reply_of(decoded, prompt_tokens)


def reply_of(body: object, prompt_tokens: Callable[[], int]) -> Reply:
    """The completion in a decoded JSON body, as for `read_reply`. Raises BadResponse."""
    counts = _counts(body)
    try:
        choice = body["choices"][0]  # type: ignore[index]
        message = _message(choice)
        content, refusal = message.get("content"), message.get("refusal")
        given = [message.get(name) for name in _REASONING_FIELDS]
        called_tools = bool(message.get("tool_calls") or message.get("function_call"))
        ended = choice.get("finish_reason")
    except (LookupError, TypeError, AttributeError):
        raise _unread("The reply holds no message.", counts, body) from None
    said = _Said()
    try:
        said.add(content)
        said.add(refusal, "refusal")
    except TypeError:
        raise _unread("The reply's message is no text.", counts, body) from None
    text, refusal = "".join(said.text), "".join(said.refusal)
    thought = [each for each in given if isinstance(each, str)][:1] + said.reasoning
    reasoning = "\n".join(thought)
    if not reasoning:
        text, reasoning = without_thinking(text)
    if counts is None:
        counts = prompt_tokens(), text_tokens(text) + text_tokens(reasoning)
    return Reply(
        storable(text),
        storable(reasoning) if reasoning.strip() else None,
        storable(ended) if isinstance(ended, str) else "unknown",
        storable(refusal) or None,
        called_tools,
        *counts,
    )


def _message(choice: dict[str, Any]) -> dict[str, Any]:
    """The message of a choice; empty where it says instead why there is none, as Gemini's do."""
    stopped = isinstance(choice.get("finish_reason"), str) and choice["finish_reason"] != "stop"
    message: dict[str, Any] = (choice.get("message") or {}) if stopped else choice["message"]
    return message


def _counts(body: object) -> tuple[int, int] | None:
    """Tokens of prompt and completion; None where the server does not say, or what cannot be."""
    used = body.get("usage") if isinstance(body, dict) else None
    counts: dict[str, Any] = used if isinstance(used, dict) else {}
    given = counts.get("prompt_tokens"), counts.get("completion_tokens")
    believed = [count for count in given if type(count) is int and 0 <= count < _MOST]
    return (believed[0], believed[1]) if len(believed) == 2 else None


def _unread(what: str, counts: tuple[int, int] | None, body: object) -> BadResponse:
    return BadResponse(what, counts, storable(json.dumps(body, ensure_ascii=False)))


def storable(text: str) -> str:
    """`text` with lone surrogates replaced.

    No database stores them, and one such answer would make the commit of others fail.
    """
    return text.encode("utf-8", "replace").decode()
