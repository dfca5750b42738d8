"""Pages over HTTP as a browser gets them: routes served on loopback, and requests nobody tidied up."""

import http.client
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute


@contextmanager
def serving_routes(routes: Sequence[BaseRoute]) -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        app = Starlette(routes=routes)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def ask(
    port: int, path: str, method: str = "GET", host: str = "127.0.0.1"
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", f"{host}:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        return answer, answer.read().decode()
    finally:
        connection.close()
