"""Pages over HTTP as a browser gets them: routes served on loopback, and requests nobody tidied up."""

import http.client
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp


@contextmanager
def serving_app(app: ASGIApp) -> Iterator[int]:
    """The port of loopback on which an application is served."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.should_exit = server.force_exit = True
            thread.join()


def serving_routes(routes: Sequence[BaseRoute]) -> AbstractContextManager[int]:
    return serving_app(Starlette(routes=routes))


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
