"""An HTTP proxy that gives each request to the next of several processes."""

import http.client
import itertools
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from resources.web.ports import HOST


class Proxy(ThreadingHTTPServer):
    """Gives each request to the next of the processes at `ports`, and leaves out who is not there."""

    daemon_threads = False

    def __init__(self, ports: list[int]):
        super().__init__((HOST, 0), _Passing)
        self.ports, self.turns = ports, itertools.cycle(ports)
        self.address = f"http://{HOST}:{self.server_port}"


class _Passing(BaseHTTPRequestHandler):
    server: Proxy

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {"X-Forwarded-For": self.client_address[0], **dict(self.headers)}
        headers["Connection"] = "close"
        for _ in self.server.ports:
            behind = http.client.HTTPConnection(HOST, next(self.server.turns), timeout=120)
            try:
                behind.connect()
            except ConnectionRefusedError:
                continue
            try:
                behind.request(self.command, self.path, body, headers)
                answer = behind.getresponse()
                data = answer.read()
            except (OSError, http.client.HTTPException):
                break  # What became of it nobody knows: it is not for another one to do again.
            finally:
                behind.close()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "date", "server"):
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_error(502)

    do_GET = do_POST = _pass_on

    def log_message(self, *_: object) -> None:
        """Nothing."""
