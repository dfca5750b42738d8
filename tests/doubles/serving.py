"""Running a test's loopback server for as long as a block lasts, and ports for other servers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import BaseServer
from typing import TypeVar

from resources.web.ports import HOST

Server = TypeVar("Server", bound=BaseServer)


class QuietHandler(BaseHTTPRequestHandler):
    """Connections that stay open, answered at once, and nothing on standard error."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, *parts: object) -> None: ...

    def begin(self, status: int = 200, **headers: str) -> None:
        """Status and headers; underscores in names are hyphens."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.begin(status, Content_Length=str(len(body)), **headers)
        self.write(body)

    def write(self, part: bytes) -> None:
        self.wfile.write(part)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server, answering; its thread and its socket end with the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def serving_folder(folder: Path, version: str = "HTTP/1.0") -> Iterator[str]:
    """The address of a server of files that knows nothing of the project."""

    class Files(QuietHandler, SimpleHTTPRequestHandler):
        protocol_version = version

    server = ThreadingHTTPServer((HOST, 0), partial(Files, directory=str(folder)))
    with serving(server):
        yield f"http://{HOST}:{server.server_port}"


def free_ports(n: int) -> list[int]:
    """Ports of loopback that nobody has now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind((HOST, 0))
        return [each.getsockname()[1] for each in sockets]
