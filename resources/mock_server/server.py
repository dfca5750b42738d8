"""The HTTP server of the mock models (OpenAI protocol). It ends together with its parent process. Every
response has the header `x-mock: true`.
"""

import asyncio
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from resources.mock_server.chat_completion import MODELS, chat_body, model_list
from resources.mock_server.chat_request import ApiError, model_name, read_body
from resources.web.ports import HOST
from resources.web.request_guard import is_of_page

HEADERS = {"x-mock": "true"}
_WATCH_SECONDS = 0.25
_WORKERS = 4


class _NoPages:
    """ASGI middleware that refuses requests from web pages in a browser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = scope["type"] == "http" and is_of_page(scope)
        answer = PlainTextResponse("The mock model server answers programs only.", 403)
        await (answer if refused else self._app)(scope, receive, send)


def create_app() -> Starlette:
    """Create the application. It answers API clients and serves no web page."""
    pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="mock")

    async def models(request: Request) -> Response:
        return JSONResponse(model_list(), headers=HEADERS)

    async def chat(request: Request) -> Response:
        sent = await request.body()
        body = await asyncio.get_running_loop().run_in_executor(pool, _answer_body, sent)
        return Response(body, media_type="application/json", headers=HEADERS)

    return Starlette(
        routes=[Route("/v1/models", models), Route("/v1/chat/completions", chat, methods=["POST"])],
        exception_handlers={ApiError: _error_response},
        middleware=[Middleware(_NoPages)],
    )


def serve(app: Starlette, port: int, parent: int | None, listen: str = HOST) -> None:
    """Serve until stopped, or until the parent process ends.

    Args:
        app: The application.
        port: The port; 0 for a free one.
        parent: The id of the parent process; None for no parent.
        listen: The address to listen on.

    Raises:
        OSError: The port cannot be bound.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((listen, port))
    listener.listen(256)
    config = uvicorn.Config(
        app,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    print(f"mock model server on http://{listen}:{listener.getsockname()[1]}/v1", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


async def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, headers=HEADERS)


def _answer_body(sent: bytes) -> bytes:
    """Answer the body of a request; runs in a worker thread."""
    payload = read_body(sent)
    model = model_name(payload)
    if model not in MODELS:
        message = f"The model `{model}` does not exist on this mock server."
        raise ApiError(404, message, "invalid_request_error", "model_not_found")
    return json.dumps(chat_body(payload)).encode()


def _exit_with(parent: int) -> None:
    """End this process as soon as its parent process is gone."""
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(0)
