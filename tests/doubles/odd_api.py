"""A server that answers a POST in whatever way a test says, on real sockets over loopback."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from threading import Event
from typing import Any

from tests.doubles.openai_api import completion
from tests.doubles.serving import QuietHandler, serving

PIECE = b" " * 65_536


class Asked(QuietHandler):
    """One request: `body` is what it holds, and the methods send a response."""

    server: "OddApi"
    body: bytes

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.received.append(self)
        try:
            self.server.answer(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_GET = do_POST

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def says(self, text: str = "Fine.", tokens: tuple[int, int] = (10, 5), **headers: str) -> None:
        """A completion, and what it was billed as."""
        self.send(completion({"role": "assistant", "content": text}, *tokens), **headers)

    def write(self, part: bytes) -> None:
        super().write(part)
        self.server.n_sent += len(part)

    def write_chunk(self, part: bytes) -> None:
        """A chunk of a body that announced `Transfer-Encoding: chunked`."""
        self.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")


class OddApi(ThreadingHTTPServer):
    """The server; `received` has what it was asked, `n_sent` the bytes of bodies that it sent."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Asked], None]):
        super().__init__(("127.0.0.1", 0), Asked)
        self.answer = answer
        self.received: list[Asked] = []
        self.n_sent = 0
        self.ending = Event()
        """Set as the server ends: whoever is silent waits for it."""

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}/v1"

    def get_request(self) -> tuple[socket.socket, tuple[str, int]]:
        connection, address = super().get_request()
        # A client that has read enough leaves; what is in the buffers by then is not much.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        return connection, address


@contextmanager
def answering(answer: Callable[[Asked], None]) -> Iterator[OddApi]:
    """A server that answers each request by calling `answer` with it."""
    with serving(OddApi(answer)) as api:
        try:
            yield api
        finally:
            api.ending.set()


def refusing(
    status: int, message: str = "No.", to: Callable[[Asked], bool] = lambda _: True
) -> Callable[[Asked], None]:
    """Answers the requests that `to` picks with this error, and the others as they should be."""
    error = json.dumps({"error": {"message": message}}).encode()

    def answer(asked: Asked) -> None:
        asked.send(error, status) if to(asked) else asked.says()

    return answer


def with_status(code: int) -> Callable[[Asked], None]:
    """Answers with this status and nothing else."""
    return lambda asked: asked.send(b"", code)


def never(asked: Asked) -> None:
    """No answer for as long as the server lives."""
    asked.server.ending.wait()
    asked.close_connection = True
