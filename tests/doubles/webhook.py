"""A webhook that keeps what it is sent."""

import json
from http.server import ThreadingHTTPServer

from resources.web.ports import HOST
from tests.doubles.serving import QuietHandler


class Webhook(ThreadingHTTPServer):
    """Answers with `status`; its address has a secret in it."""

    def __init__(self) -> None:
        super().__init__((HOST, 0), _Handler)
        self.status = 200
        self.received: list[dict[str, str]] = []
        self.address = f"http://{HOST}:{self.server_port}/services/T0K3N"


class _Handler(QuietHandler):
    server: Webhook

    def do_POST(self) -> None:
        self.server.received.append(
            json.loads(self.rfile.read(int(self.headers["content-length"])))
        )
        self.send(b"", self.server.status)
