"""The fake of an OpenAI-compatible API: chat completions over real HTTP on loopback.

The fake costs so little that it is never what a caller waits for.
"""

import asyncio
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Api:
    """Answers by rule, the same text to the same request, `latency_ms` after it arrived.

    `heard(key, text)` is called as each request arrives.
    """

    def __init__(
        self,
        latency_ms: tuple[float, float] = (0, 0),
        heard: Callable[[str, str], None] | None = None,
    ):
        self._latency, self._heard = latency_ms, heard
        self._random = random.Random(0)
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.BaseTransport] = set()

    async def listen(self) -> str:
        """The base URL of a server that answers from now on."""
        loop = asyncio.get_running_loop()
        connect = lambda: _Connection(self, self._open)  # noqa: E731 - a factory of protocols
        self._server = await loop.create_server(connect, "127.0.0.1", 0, backlog=512)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def close(self) -> None:
        if self._server:
            self._server.close()
        for transport in list(self._open):
            transport.close()

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        """Take one request, and answer it when its time has come; names of headers in lower case."""
        text = json.loads(body)["messages"][-1]["content"]
        if self._heard:
            self._heard(headers["authorization"].removeprefix("Bearer "), text)
        delay = self._random.uniform(*self._latency) / 1000
        asyncio.get_running_loop().call_later(delay, _write, transport, text)


class ScriptedApi(Api):
    """Keeps what it is sent, and answers with what it was given, one reply after another.

    The last reply is given again for as long as there are requests.
    """

    def __init__(self) -> None:
        super().__init__()
        self.received: list[dict[str, Any]] = []
        self._replies: list[bytes] = []
        self.url = ""
        self.answers(content="Fine.")

    def replies(self, data: bytes, status: int = 200) -> None:
        self._replies = [http_reply(status, data)]

    def answers(self, finish_reason: str | None = "stop", **message: object) -> None:
        self.replies(completion({"role": "assistant", **message}, 3, 2, finish_reason))

    def says(self, *texts: str | None) -> None:
        self._replies = [
            http_reply(200, completion({"role": "assistant", "content": text}, 10, 5))
            for text in texts
        ]

    def reply(self, headers: dict[str, str], body: bytes, transport: asyncio.Transport) -> None:
        self.received.append(json.loads(body))
        transport.write(self._replies[min(len(self.received), len(self._replies)) - 1])


@contextmanager
def serving(api: Api) -> Iterator[str]:
    """The base URL of `api`, which answers while the block is entered, in a loop of its own."""
    with _running_loop() as running:
        url = asyncio.run_coroutine_threadsafe(api.listen(), running).result(10)
        try:
            yield url
        finally:
            asyncio.run_coroutine_threadsafe(api.close(), running).result(10)


@contextmanager
def scripted() -> Iterator[ScriptedApi]:
    api = ScriptedApi()
    with serving(api) as api.url:
        yield api


@contextmanager
def _running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop in a thread of its own, for as long as the block lasts."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="fake API")
    thread.start()
    try:
        yield loop
    finally:
        # Once more around: what was closed is let go by the loop's next callbacks.
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class _Connection(asyncio.Protocol):
    def __init__(self, api: Api, among: set[asyncio.BaseTransport]):
        self._api, self._among, self._buffer = api, among, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._among.add(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._among.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            lines = self._buffer[:end].decode("latin-1").split("\r\n")[1:]
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in lines)
            }
            length = int(headers["content-length"])
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._api.reply(headers, body, self._transport)


# What goes over the wire


def answer_to(text: str) -> str:
    return f"{text[::-1]}, said the parrot."


def completion_body(
    message: dict[str, Any] | None,
    prompt_tokens: int,
    completion_tokens: int,
    finish: str | None = "stop",
    model: str = "fake",
) -> dict[str, Any]:
    """A completion; without a message its choice has only an end."""
    choice = {"index": 0, "finish_reason": finish, "logprobs": None}
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [choice if message is None else {**choice, "message": message}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def completion(
    message: dict[str, Any], prompt_tokens: int, completion_tokens: int, finish: str | None = "stop"
) -> bytes:
    return json.dumps(completion_body(message, prompt_tokens, completion_tokens, finish)).encode()


def completion_by_rule(text: str, finish: str = "stop") -> bytes:
    answer = answer_to(text)
    message: dict[str, object] = {"role": "assistant", "content": answer}
    return completion(message, len(text), len(answer), finish)


def http_reply(
    status: int,
    body: bytes,
    *headers: str,
    kind: str = "application/json",
    length: int | None = None,
) -> bytes:
    """A reply as it goes over the wire; `length` is what it says of itself, true or not."""
    lines = [
        f"HTTP/1.1 {status} So It Is",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body) if length is None else length}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def _write(transport: asyncio.Transport, text: str) -> None:
    if not transport.is_closing():
        transport.write(http_reply(200, completion_by_rule(text)))
