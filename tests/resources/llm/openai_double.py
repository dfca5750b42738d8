"""A bare stand-in for a paid API: it answers chat completions after a delay and tells who asked what.

It answers by rule, the same text to the same request, and costs so little that it is never what a
caller waits for. The offline server, which reads what it is asked, is `resources.offline`.
"""

import asyncio
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Api:
    """Serves connections of one event loop; `heard(key, text)` is called as each request arrives."""

    def __init__(
        self, latency_ms: tuple[float, float], heard: Callable[[str, str], None] | None = None
    ):
        self._latency, self._heard = latency_ms, heard
        self._random = random.Random(0)

    async def listen(self) -> str:
        """The base URL of a server that answers from now on."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=512)
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"

    def reply(self, head: str, body: bytes, transport: asyncio.Transport) -> None:
        """Take one request down, and answer it when its time has come."""
        text = json.loads(body)["messages"][-1]["content"]
        if self._heard:
            lines = (line.partition(": ") for line in head.split("\r\n")[1:])
            headers = {name.lower(): value for name, _, value in lines}
            self._heard(headers["authorization"].removeprefix("Bearer "), text)
        delay = self._random.uniform(*self._latency) / 1000
        asyncio.get_running_loop().call_later(delay, _write, transport, text)


@contextmanager
def serving(api: Api) -> Iterator[str]:
    """The base URL of `api`, which answers in a thread of its own while the block is entered."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(api.listen(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


class _Connection(asyncio.Protocol):
    def __init__(self, api: Api):
        self._api, self._buffer = api, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].decode("latin-1")
            length = int(head.lower().partition("content-length:")[2].split("\r\n")[0])
            if len(self._buffer) < end + 4 + length:
                return
            body = self._buffer[end + 4 : end + 4 + length]
            self._buffer = self._buffer[end + 4 + length :]
            self._api.reply(head, body, self._transport)


def answer_to(text: str) -> str:
    """What the stand-in answers."""
    return f"{text[::-1]}, said the parrot."


def _write(transport: asyncio.Transport, text: str) -> None:
    if transport.is_closing():
        return
    answer = answer_to(text)
    message = {"role": "assistant", "content": answer, "refusal": None}
    used = {"prompt_tokens": len(text), "completion_tokens": len(answer)}
    body = json.dumps(
        {
            "id": "chatcmpl-double",
            "object": "chat.completion",
            "created": 0,
            "model": "double",
            "choices": [
                {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
            ],
            "usage": {**used, "total_tokens": sum(used.values())},
        }
    ).encode()
    head = (
        f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    transport.write(head.encode() + body)
