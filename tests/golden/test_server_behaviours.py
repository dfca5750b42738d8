"""docs/reference/server-behaviours.md: how the gateway handles each behaviour of a server.

Each row is a request through the real gateway to a server that behaves so, twice: what the outcome was,
what the ledger has of it, and whether the second run sent it again.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from methods.markdown import table
from resources.llm.gateway import Gateway
from resources.llm.ledger import Ledger
from resources.llm.model_calls import AuthError
from resources.llm.request import Completion
from tests.doubles.openai_api import Api, completion, http_reply, serving
from tests.golden.test_models_guide import (
    SCHEMA,
    double_of,
    gateway_of,
    outcomes,
    question,
    set_keys,
)
from tests.resources.llm.entries import charges_of

pytestmark = pytest.mark.slow

PAGE = "../../../docs/reference/server-behaviours.md"
ATTEMPTS = 3
LONG = "word " * 5_000
INTRODUCTION = """\
# Server behaviours

This page lists how the gateway handles each response of a model server. A test writes it from requests
to servers that behave this way (`pytest tests/golden --regenerate-golden`).
[Model calls](../guides/asking-models.md#failure-reasons) explains the reasons.

- **outcome**: `answered`, or the reason of the failure.
- **ledger**: where the ledger stores the reply. `calls` holds replies that are used again. `charges`
  holds replies that are not used again, with their cost.
- **retried**: in the same run (the error may pass), in the next run, or never.
"""


class Server(Api):
    """Answers every request with the same bytes; none: it hangs up, or says nothing at all."""

    def __init__(self, reply: bytes | None, *, silent: bool = False):
        super().__init__()
        self._reply, self._silent = reply, silent
        self.received: list[bytes] = []

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        self.received.append(body)
        if self._reply is not None:
            transport.write(self._reply)
        elif not self._silent:
            transport.abort()


class Behaviour(NamedTuple):
    """What a server does, said for the page, how it is made, and what else is in the request."""

    said: str
    server: Callable[[], Any]
    name: str = "plain"
    changed: dict[str, Any] = {}
    text: str = "Why?"
    note: str = ""


def says(finish: str | None = "stop", **message: object) -> Callable[[], Server]:
    whole = completion({"role": "assistant", **message}, 10, 5, finish)
    return lambda: Server(http_reply(200, whole))


def body(value: object, status: int = 200) -> Callable[[], Server]:
    return lambda: Server(http_reply(status, json.dumps(value).encode()))


def raw(data: bytes, status: int = 200, **more: Any) -> Callable[[], Server]:
    return lambda: Server(http_reply(status, data, **more))


def error(status: int, message: str, code: str | None = None) -> Callable[[], Server]:
    return body({"error": {"message": message, "type": "error", "code": code}}, status)


def of(name: str, **bad_days: bool) -> Callable[[], Any]:
    return lambda: double_of(name, **bad_days)


def small(name: str) -> Callable[[], Any]:
    """The server of an entry with a context that LONG does not fit into."""

    def make() -> Any:
        double = double_of(name)
        double.context = 4_000
        return double

    return make


USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
TOOL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
ANY_CONTEXT = {"context_tokens": None}
BEHAVIOURS = {
    "Replies with status 200": [
        Behaviour("an answer", says(content="Fine.")),
        Behaviour("an answer under another model's name", body({"choices": [{"message": {"content": "Fine."}}], "usage": USAGE, "model": "mini"}), note="; counted"),  # noqa: E501
        Behaviour("an answer of five characters with `completion_tokens: 2147483647`", body({"choices": [{"message": {"content": "Fine."}}], "usage": USAGE | {"completion_tokens": 2**31 - 1}}), note="; tokens are estimated"),  # noqa: E501
        Behaviour("an answer in parts", says(content=[{"type": "text", "text": "Fine."}])),
        Behaviour("an answer after `<think>...</think>`", says(content="<think>Hm.</think>Fine.")),
        Behaviour("an answer and `reasoning_content`", says(content="Fine.", reasoning_content="Hm")),
        Behaviour("an answer cut off by the token limit", says("length", content="Fi")),
        Behaviour("`<think>` without an end", says("length", content="<think>Hm, let me")),
        Behaviour("`reasoning_content` and empty content", says("length", content="", reasoning_content="Hm.")),  # noqa: E501
        Behaviour("`reasoning`, no content, `finish_reason: stop`", says(content=None, reasoning="Hm.")),  # noqa: E501
        Behaviour("empty content at the token limit (hidden reasoning)", of("gpt-5"), "gpt-5", {"token_limit": {"name": "max_completion_tokens", "tokens": 100}}),  # noqa: E501
        Behaviour("empty content", says(content="")),
        Behaviour("white space only", says(content=" \n ")),
        Behaviour("a tool call", says("tool_calls", content=None, tool_calls=[TOOL])),
        Behaviour("a refusal in the field `refusal`", of("gpt-4o", withholds=True), "gpt-4o"),
        Behaviour("`finish_reason: content_filter`", says("content_filter", content="")),
        Behaviour("`finish_reason: SAFETY`", says("SAFETY", content=None)),
        Behaviour("Gemini: `finish_reason: content_filter: ...` and no message", of("gemini-flash", withholds=True), "gemini-flash"),  # noqa: E501
        Behaviour("Anthropic: `finish_reason: refusal`", of("claude", withholds=True), "claude"),
        Behaviour("an answer of more than 1,000,000 characters", says(content="A" * 1_000_001)),
        Behaviour("an empty list of choices, with `usage`", body({"choices": [], "usage": USAGE})),
        Behaviour("another JSON schema, with `usage`", body({"output": "F", "usage": USAGE})),
        Behaviour("another JSON schema, without `usage`", body({"output": "Fine."})),
        Behaviour("JSON nested more than 100 deep", raw(b"[" * 970 + b"]" * 970)),
        Behaviour("broken JSON", raw(b'{"choices": [{"mess')),
        Behaviour("an HTML page of a proxy", raw(b"<html>Please sign in.</html>", kind="text/html")),
    ],
    "Prompts that do not fit": [
        Behaviour("OpenAI: `context_length_exceeded`", small("gpt-4o"), "gpt-4o", ANY_CONTEXT, LONG),
        Behaviour("vLLM: maximum context length", small("qwen-vllm"), "qwen-vllm", ANY_CONTEXT, LONG),
        Behaviour("vLLM: prompt plus `max_tokens` is too long", of("qwen-vllm"), "qwen-vllm", {"token_limit": {"tokens": 32_768}}),  # noqa: E501
        Behaviour("SGLang: longer than the context length", small("qwen-sglang"), "qwen-sglang", ANY_CONTEXT, LONG),  # noqa: E501
        Behaviour("Ollama: drops the beginning without an error", small("qwen-ollama"), "qwen-ollama", ANY_CONTEXT, LONG, "; only `context_tokens` prevents it"),  # noqa: E501
        Behaviour("Gemini: the input token count", small("gemini-flash"), "gemini-flash", ANY_CONTEXT, LONG),  # noqa: E501
        Behaviour("Anthropic: prompt is too long", small("claude"), "claude", ANY_CONTEXT, LONG),
        Behaviour("any server, with `context_tokens` in the entry", small("gpt-4o"), "gpt-4o", {"context_tokens": 4_000}, LONG),  # noqa: E501
        Behaviour("413 of a proxy", raw(b"<html>413</html>", 413, kind="text/html")),
    ],
    "Fields that a server rejects": [
        Behaviour("OpenAI reasoning model: `max_tokens`", of("gpt-5"), "gpt-5", {"token_limit": None}),
        Behaviour("OpenAI reasoning model: `temperature`", of("gpt-5"), "gpt-5", {"temperature": None}),
        Behaviour("OpenAI, GPT-4o: `reasoning_effort`", of("gpt-4o"), "gpt-4o", {"reasoning": "low"}),
        Behaviour("vLLM: a value of `reasoning_effort`", of("qwen-vllm"), "qwen-vllm", {"reasoning": "minimal"}),  # noqa: E501
        Behaviour("SGLang: a value of `reasoning_effort`", of("qwen-sglang"), "qwen-sglang", {"reasoning": "minimal"}),  # noqa: E501
        Behaviour("Ollama: a value of `reasoning_effort`", of("qwen-ollama"), "qwen-ollama", {"reasoning": "minimal"}),  # noqa: E501
        Behaviour("Gemini: `seed`", of("gemini-flash"), "gemini-flash", {"seed": 1}),
        Behaviour("Anthropic: `temperature`", of("claude"), "claude", {"temperature": None}),
        Behaviour("Anthropic: `response_format` is ignored", of("claude"), "claude", {"structured_output": True}, note="; the reply is still parsed"),  # noqa: E501
    ],
    "Other errors": [
        Behaviour("400, content policy", of("gpt-5", withholds=True), "gpt-5"),
        Behaviour("400, another reason", error(400, "What?")),
        Behaviour("404, unknown model", of("qwen-ollama"), "qwen-ollama", {"model": "none"}),
        Behaviour("401, invalid key", error(401, "Incorrect API key provided.")),
        Behaviour("OpenAI: 429, quota exhausted", of("gpt-4o", exhausted=True), "gpt-4o"),
        Behaviour("Gemini: 429, daily quota exhausted", of("gemini-flash", exhausted=True), "gemini-flash"),  # noqa: E501
        Behaviour("Anthropic: 400, credit exhausted", of("claude", exhausted=True), "claude"),
        Behaviour("429, too many requests", error(429, "Rate limit reached.")),
        Behaviour("500", error(500, "Internal error.")),
        Behaviour("503 of a proxy", raw(b"<html>503</html>", 503, kind="text/html")),
        Behaviour("the connection is reset", lambda: Server(None)),
        Behaviour("no reply before the timeout", lambda: Server(None, silent=True), "plain", {"timeouts": {"whole": 0.2}}),  # noqa: E501
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    set_keys(monkeypatch)


def ask(gateway: Gateway, behaviour: Behaviour) -> str:
    """One run: the outcome of the request, as the page has it."""
    try:
        (outcome,) = outcomes(gateway, question(behaviour.name, behaviour.text, schema=SCHEMA))
    except AuthError:
        return "`auth`, run stops"
    finally:
        gateway.close()
    return "answered" if isinstance(outcome, Completion) else f"`{outcome.kind}`"


def row_in(ledger: Ledger, outcome: str) -> str:
    """The table of the ledger that has the reply, under this outcome."""
    calls, charges = list(ledger), charges_of(ledger)
    ledger.close()
    assert len(calls) <= 1
    if calls:
        assert calls[0].outcome == outcome
        return "`calls`"
    if charges:
        assert charges[0].outcome == outcome
        return "`charges`"
    return "none"


def row_of(behaviour: Behaviour, folder: Path) -> tuple[str, ...]:
    folder.mkdir()
    server = behaviour.server()
    with serving(server) as url:
        fields = {"attempts": ATTEMPTS, **behaviour.changed}
        ended = ask(gateway_of(folder, behaviour.name, url, **fields), behaviour)
        sent = len(server.received)
        row = row_in(Ledger(folder / "ledger.sqlite"), ended.strip("`"))
        again = ask(gateway_of(folder, behaviour.name, url, **fields), behaviour)
    assert again == ended
    assert sent in (0, 1, ATTEMPTS)
    in_next = "next run" if len(server.received) > sent else "no"
    in_this = "this run, " if sent == ATTEMPTS else ""
    asked_again = "not sent" if sent == 0 else in_this + in_next
    return behaviour.said, ended, row, asked_again + behaviour.note


def test_the_page_says_what_becomes_of_each_behaviour(tmp_path, golden):
    heads = ("the server sends", "outcome", "ledger", "retried")
    parts = [INTRODUCTION]
    for number, (title, behaviours) in enumerate(BEHAVIOURS.items()):
        rows = [
            row_of(behaviour, tmp_path / f"{number}-{place}")
            for place, behaviour in enumerate(behaviours)
        ]
        parts.append("\n".join([f"## {title}", "", *table(heads, rows), ""]))
    golden(PAGE, "\n".join(parts))
