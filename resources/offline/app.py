"""The offline server's web application.

What belongs here: the routes, and the steps of a chat call. The application speaks the OpenAI
protocol, marks every response with the header `x-offline: true`, keeps files and batches in memory,
and calls no model.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resources.offline import fault_injection
from resources.offline.batches import Batches
from resources.offline.chat_completion import MODELS, chat_body, model_list
from resources.offline.chat_request import model_name, read_body, task_name
from resources.offline.errors import ApiError, BadRequest, UnknownModel
from resources.offline.files import Files, Limits, read_upload

HEADERS = {"x-offline": "true"}
_LONGEST_SILENCE = 600.0
_WORKERS = 4
_PAGE = "20"

Reset = Callable[[Request], None]


class Application:
    """The handlers of the routes, with the fault injector, the files and the batches they share."""

    def __init__(
        self, latency_ms: float, batch_seconds: float, limits: Limits, reset: Reset
    ) -> None:
        self._latency = latency_ms / 1000.0
        self._reset = reset
        self._injector = fault_injection.FaultInjector()
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="offline")
        self._limits = limits
        self._files = Files()
        context = limits.context_tokens
        self._batches = Batches(self._files, self._injector, self._pool, batch_seconds, context)

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
        """Queue a fault for the next chat calls or batches."""
        fault = fault_injection.read_fault(read_body(await request.body()))
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
            if fault and fault.kind in (
                fault_injection.STATUS,
                fault_injection.TIMEOUT,
                fault_injection.RESET,
            ):
                return await self._fail(request, fault)
            body = await loop.run_in_executor(
                self._pool,
                _answer_body,
                payload,
                fault.kind if fault else None,
                self._limits.context_tokens,
            )
            return Response(body, media_type="application/json", headers=HEADERS)
        finally:
            self._injector.end()

    async def upload(self, request: Request) -> Response:
        """Keep an uploaded file."""
        if not request.headers.get("content-type", "").startswith("multipart/form-data"):
            raise BadRequest("A file must be sent as multipart/form-data.")
        try:
            async with request.form() as form:
                file = await read_upload(form, self._limits)
        except HTTPException as error:
            raise BadRequest(f"The form cannot be read: {error.detail}") from None
        return JSONResponse(self._files.keep(file).body(), headers=HEADERS)

    async def file(self, request: Request) -> Response:
        """Describe a file."""
        return JSONResponse(self._files.get(request.path_params["id"]).body(), headers=HEADERS)

    async def content(self, request: Request) -> Response:
        """Give a file's content."""
        file = self._files.get(request.path_params["id"])
        return Response(file.content, media_type="application/octet-stream", headers=HEADERS)

    async def delete_file(self, request: Request) -> Response:
        """Delete a file."""
        return JSONResponse(self._files.delete(request.path_params["id"]), headers=HEADERS)

    async def create_batch(self, request: Request) -> Response:
        """Create a batch."""
        batch = await self._batches.create(read_body(await request.body()))
        return JSONResponse(batch.body(), headers=HEADERS)

    async def list_batches(self, request: Request) -> Response:
        """List the batches."""
        asked = request.query_params
        page = self._batches.page(asked.get("after"), asked.get("limit", _PAGE))
        return JSONResponse(page, headers=HEADERS)

    async def batch(self, request: Request) -> Response:
        """Describe a batch."""
        return JSONResponse(self._batches.get(request.path_params["id"]).body(), headers=HEADERS)

    async def cancel_batch(self, request: Request) -> Response:
        """Cancel a batch."""
        batch = self._batches.cancel(request.path_params["id"])
        return JSONResponse(batch.body(), headers=HEADERS)

    async def _fail(self, request: Request, fault: fault_injection.Fault) -> Response:
        """Fail in a way that gives no answer at all."""
        if fault.kind == fault_injection.RESET:
            self._reset(request)
        if fault.kind == fault_injection.TIMEOUT:
            await _silence(request)
        headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
        return JSONResponse(fault.error().body(), fault.status, headers={**HEADERS, **headers})


def create_app(latency_ms: float, batch_seconds: float, limits: Limits, reset: Reset) -> Starlette:
    """Return the application; `reset` must break the connection a request came on."""
    handlers = Application(latency_ms, batch_seconds, limits, reset)
    routes: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
        ("/health", "GET", handlers.health),
        ("/stats", "GET", handlers.stats),
        ("/faults", "POST", handlers.queue_fault),
        ("/v1/models", "GET", handlers.models),
        ("/v1/chat/completions", "POST", handlers.chat),
        ("/v1/files", "POST", handlers.upload),
        ("/v1/files/{id}", "GET", handlers.file),
        ("/v1/files/{id}", "DELETE", handlers.delete_file),
        ("/v1/files/{id}/content", "GET", handlers.content),
        ("/v1/batches", "POST", handlers.create_batch),
        ("/v1/batches", "GET", handlers.list_batches),
        ("/v1/batches/{id}", "GET", handlers.batch),
        ("/v1/batches/{id}/cancel", "POST", handlers.cancel_batch),
    ]
    return Starlette(
        routes=[Route(path, handler, methods=[method]) for path, method, handler in routes],
        exception_handlers={ApiError: _error_response},
    )


async def _error_response(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, headers=HEADERS)


def _answer_body(payload: dict[str, object], fault: str | None, context: int) -> bytes:
    """Read the request and write its answer; runs in a worker thread."""
    encoded = json.dumps(chat_body(payload, fault, context)).encode()
    return encoded[: len(encoded) // 2] if fault == fault_injection.TRUNCATED_JSON else encoded


async def _silence(request: Request) -> None:
    """Wait until the caller gives up."""
    waited = 0.0
    while waited < _LONGEST_SILENCE and not await request.is_disconnected():
        await asyncio.sleep(0.05)
        waited += 0.05
