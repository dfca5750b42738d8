"""The offline server's web application.

Belongs here: the routes and how a chat call runs through them. The application answers in the
OpenAI protocol, marks every answer with `x-offline: true`, and never calls a model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resources.offline import faults
from resources.offline.completion import MODELS, completion, model_list
from resources.offline.conversation import model_name, read_body, read_chat
from resources.offline.errors import ApiError, UnknownModel
from resources.offline.roles import answer

HEADERS = {"x-offline": "true"}
_LONGEST_SILENCE = 600.0
_WORKERS = 4

Reset = Callable[[Request], None]


class Application:
    """The handlers of the routes, with the ledger they share."""

    def __init__(self, latency_ms: float, reset: Reset) -> None:
        self._latency = latency_ms / 1000.0
        self._reset = reset
        self._ledger = faults.Ledger()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="offline")

    async def health(self, request: Request) -> Response:
        """Say that the server is up."""
        return JSONResponse({"status": "ok", "offline": True}, headers=HEADERS)

    async def models(self, request: Request) -> Response:
        """List the models."""
        return JSONResponse(model_list(), headers=HEADERS)

    async def stats(self, request: Request) -> Response:
        """Give the counts."""
        return JSONResponse(self._ledger.stats(), headers=HEADERS)

    async def queue_fault(self, request: Request) -> Response:
        """Queue a fault for the next chat calls."""
        fault = faults.read_fault(read_body(await request.body()))
        self._ledger.queue(fault)
        return JSONResponse({"queued": fault.left, "kind": fault.kind}, headers=HEADERS)

    async def chat(self, request: Request) -> Response:
        """Answer a chat call, or let it suffer a fault."""
        loop = asyncio.get_running_loop()
        payload = await loop.run_in_executor(self._pool, read_body, await request.body())
        model = model_name(payload)
        if model not in MODELS:
            raise UnknownModel(model)
        fault = self._ledger.begin(model)
        try:
            await asyncio.sleep(self._latency)
            if fault and fault.kind in (faults.STATUS, faults.TIMEOUT, faults.RESET):
                return await self._fail(request, fault)
            body = await loop.run_in_executor(
                self._pool, _answer_body, payload, fault.kind if fault else None
            )
            return Response(body, media_type="application/json", headers=HEADERS)
        finally:
            self._ledger.end()

    async def _fail(self, request: Request, fault: faults.Fault) -> Response:
        """Suffer a fault that gives no answer at all."""
        if fault.kind == faults.RESET:
            self._reset(request)
        if fault.kind == faults.TIMEOUT:
            await _silence(request)
        headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        kind = "rate_limit_error" if fault.status == 429 else "server_error"
        error = ApiError(fault.status, "This fault was asked for at /faults.", kind, fault.kind)
        return JSONResponse(error.body(), fault.status, headers={**HEADERS, **headers})


def create_app(latency_ms: float, reset: Reset) -> Starlette:
    """Return the application; `reset` must break the connection a request came on."""
    handlers = Application(latency_ms, reset)
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
    )


async def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, headers=HEADERS)


def _answer_body(payload: dict[str, object], fault: str | None) -> bytes:
    """Read the request and write its answer; runs in a worker thread."""
    request = read_chat(payload)
    if fault == faults.CONTENT_FILTER:
        body = completion(request, None, "content_filter")
    else:
        body = completion(request, answer(request), "stop")
    if fault == faults.EMPTY_CHOICES:
        body["choices"] = []
    encoded = json.dumps(body).encode()
    return encoded[: len(encoded) // 2] if fault == faults.TRUNCATED_JSON else encoded


async def _silence(request: Request) -> None:
    """Wait until the caller gives up."""
    waited = 0.0
    while waited < _LONGEST_SILENCE and not await request.is_disconnected():
        await asyncio.sleep(0.05)
        waited += 0.05
