"""The web application of the OpenAI protocol, its socket, and its end with its parent. Every response
has the header `x-offline: true`."""

import asyncio
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from resources.offline import fault_injection as faults
from resources.offline.chat_completion import MODELS, chat_body, model_list
from resources.offline.chat_request import ApiError, UnknownModel, model_name, read_body, task_name
from resources.web.request_guard import is_of_page

HOST = "127.0.0.1"
HEADERS = {"x-offline": "true"}
_LONGEST_SILENCE = 600.0
_WATCH_SECONDS = 0.25
_WORKERS = 4
_transports: dict[object, asyncio.Transport] = {}


class TrackedProtocol(H11Protocol):
    """Uvicorn's protocol, which also keeps each caller's transport."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Keep the transport under its caller's address."""
        self._caller = transport.get_extra_info("peername")
        _transports[self._caller] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the transport."""
        _transports.pop(self._caller, None)
        super().connection_lost(exc)


class Application:
    """The handlers of the routes, with the fault injector and the worker threads they share."""

    def __init__(self, latency_ms: float, context_tokens: int) -> None:
        self._latency = latency_ms / 1000.0
        self._context = context_tokens
        self._injector = faults.FaultInjector()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="offline")

    async def health(self, request: Request) -> Response:
        """Say that the server is up."""
        return JSONResponse({"status": "ok", "offline": True}, headers=HEADERS)

    async def models(self, request: Request) -> Response:
        """List the models."""
        return JSONResponse(model_list(), headers=HEADERS)

    async def stats(self, request: Request) -> Response:
        """Give the counts."""
        return JSONResponse(self._injector.stats(), headers=HEADERS)

    async def queue_fault(self, request: Request) -> Response:
        """Queue a fault for the next chat calls."""
        fault = faults.read_fault(read_body(await request.body()))
        self._injector.queue(fault)
        return JSONResponse({"queued": fault.left, "kind": fault.kind}, headers=HEADERS)

    async def chat(self, request: Request) -> Response:
        """Answer a chat call, or let it fail with an injected fault."""
        loop = asyncio.get_running_loop()
        payload = await loop.run_in_executor(self._pool, read_body, await request.body())
        model = model_name(payload)
        if model not in MODELS:
            raise UnknownModel(model)
        fault = self._injector.begin(model, task_name(payload))
        try:
            await asyncio.sleep(self._latency)
            if fault and fault.kind in faults.WITHOUT_ANSWER:
                return await _fail(request, fault)
            kind = fault.kind if fault else None
            body = await loop.run_in_executor(
                self._pool, _answer_body, payload, kind, self._context
            )
            return Response(body, media_type="application/json", headers=HEADERS)
        finally:
            self._injector.end()


class _NoPages:
    """ASGI middleware that refuses the requests of pages in a browser."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = scope["type"] == "http" and is_of_page(scope)
        answer = PlainTextResponse("The mock model server answers programs only.", 403)
        await (answer if refused else self._app)(scope, receive, send)


def create_app(latency_ms: float, context_tokens: int) -> Starlette:
    """Return the application; prompt and reply of a chat have `context_tokens` together.

    It answers programs only: a page in a browser could queue faults.
    """
    handlers = Application(latency_ms, context_tokens)
    routes: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
        ("/health", "GET", handlers.health),
        ("/stats", "GET", handlers.stats),
        ("/faults", "POST", handlers.queue_fault),
        ("/v1/models", "GET", handlers.models),
        ("/v1/chat/completions", "POST", handlers.chat),
    ]
    return Starlette(
        routes=[Route(path, handler, methods=[method]) for path, method, handler in routes],
        exception_handlers={ApiError: _error_response},
        middleware=[Middleware(_NoPages)],
    )


def serve(app: Starlette, port: int, parent: int | None, listen: str = HOST) -> None:
    """Serve, on the loopback interface by default, until stopped; on a free port when the port is 0.

    Ends with the process of the id `parent`. Raises OSError where the port cannot be bound.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((listen, port))
    listener.listen(256)
    config = uvicorn.Config(
        app,
        http=TrackedProtocol,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )
    if parent is not None:
        threading.Thread(target=_exit_with, args=(parent,), daemon=True).start()
    print(f"offline model server on http://{listen}:{listener.getsockname()[1]}/v1", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


async def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, headers=HEADERS)


def _answer_body(payload: dict[str, object], fault: str | None, context: int) -> bytes:
    """Read the request and write its answer; runs in a worker thread."""
    encoded = json.dumps(chat_body(payload, fault, context)).encode()
    return encoded[: len(encoded) // 2] if fault == faults.TRUNCATED_JSON else encoded


async def _fail(request: Request, fault: faults.Fault) -> Response:
    """Fail in a way that gives no answer at all."""
    if fault.kind == faults.RESET:
        _break_connection(request)
    if fault.kind == faults.TIMEOUT:
        await _silence(request)
    headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
    return JSONResponse(fault.error().body(), fault.status, headers={**HEADERS, **headers})


async def _silence(request: Request) -> None:
    """Wait until the caller gives up."""
    waited = 0.0
    while waited < _LONGEST_SILENCE and not await request.is_disconnected():
        await asyncio.sleep(0.05)
        waited += 0.05


def _break_connection(request: Request) -> None:
    """Reset the connection that a request came on, so that its caller gets no answer."""
    client = request.client
    transport = _transports.get((client.host, client.port)) if client else None
    if transport is not None:
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()


def _exit_with(parent: int) -> None:
    """End this process as soon as the parent process is gone."""
    direct = os.getppid() == parent
    while _alive(parent) and not (direct and os.getppid() != parent):
        time.sleep(_WATCH_SECONDS)
    os._exit(0)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
