"""The mock model server whose next calls fail as those of a paid API do: `FaultServer` runs it.

`POST /faults` queues a fault for so many calls of a model; `GET /stats` counts the calls.
"""

import asyncio
import json
import socket
import struct
from collections import Counter
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resources.mock_server.__main__ import arguments
from resources.mock_server.chat_completion import MODELS
from resources.mock_server.chat_request import ApiError
from resources.mock_server.process import MockServerProcess
from resources.mock_server.server import create_app, serve

STATUS, TIMEOUT, RESET = "status", "timeout", "reset"
TRUNCATED_JSON, EMPTY_CHOICES, CONTENT_FILTER = "truncated_json", "empty_choices", "content_filter"
KINDS = (STATUS, TIMEOUT, RESET, TRUNCATED_JSON, EMPTY_CHOICES, CONTENT_FILTER)
LONGEST_SILENCE = 600.0


class FaultServer(MockServerProcess):
    """The server in a child process."""

    module = "tests.doubles.fault_server"


@dataclass
class Fault:
    """One kind of fault, and how many more calls, of which model, are to fail with it."""

    kind: str = STATUS
    status: int = 500
    count: int = 1
    retry_after: str | None = None
    model: str | None = None


class Faults:
    """The queued faults and the counts of calls; used from the event loop only."""

    def __init__(self, app: Starlette):
        self._chat = next(
            route.endpoint
            for route in app.routes
            if isinstance(route, Route) and route.path == "/v1/chat/completions"
        )
        self._faults: list[Fault] = []
        self._by_model: Counter[str] = Counter()
        self._injected = self._in_flight = self._max_in_flight = 0

    def routes(self) -> list[Route]:
        return [
            Route("/stats", self.stats),
            Route("/faults", self.queue, methods=["POST"]),
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
        ]

    async def stats(self, request: Request) -> Response:
        return JSONResponse(
            {
                "calls": self._by_model.total(),
                "by_model": self._by_model,
                "faults": self._injected,
                "max_in_flight": self._max_in_flight,
            }
        )

    async def queue(self, request: Request) -> Response:
        fault = Fault(**await request.json())
        assert fault.kind in KINDS
        self._faults.append(fault)
        return JSONResponse({})

    async def chat(self, request: Request) -> Response:
        model = json.loads(await request.body())["model"]
        if model not in MODELS:
            return await self._chat(request)
        fault = self._next(model)
        self._by_model[model] += 1
        self._in_flight += 1
        self._max_in_flight = max(self._max_in_flight, self._in_flight)
        try:
            return await (self._failed(request, fault) if fault else self._chat(request))
        finally:
            self._in_flight -= 1

    def _next(self, model: str) -> Fault | None:
        for fault in self._faults:
            if fault.model in (None, model):
                self._injected += 1
                fault.count -= 1
                self._faults = [other for other in self._faults if other.count > 0]
                return fault
        return None

    async def _failed(self, request: Request, fault: Fault) -> Response:
        if fault.kind in (STATUS, RESET, TIMEOUT):
            if fault.kind == RESET:
                _break_connection(request)
            if fault.kind == TIMEOUT:
                await _silence(request)
            kind = "rate_limit_error" if fault.status == 429 else "server_error"
            error = ApiError(fault.status, "This fault was asked for.", kind, fault.kind)
            headers = {"Retry-After": fault.retry_after} if fault.retry_after else {}
            return JSONResponse(error.body(), error.status, headers=headers)
        whole = (await self._chat(request)).body
        if fault.kind == TRUNCATED_JSON:
            return Response(whole[: len(whole) // 2], media_type="application/json")
        return JSONResponse(without_text(json.loads(whole), fault.kind))


def without_text(body: dict[str, Any], kind: str) -> dict[str, Any]:
    """The body of a completion without choices, or withheld by a content filter."""
    if kind == EMPTY_CHOICES:
        return {**body, "choices": []}
    (choice,) = body["choices"]
    message = {**choice["message"], "content": None}
    n_prompt = body["usage"]["prompt_tokens"]
    usage = {"prompt_tokens": n_prompt, "completion_tokens": 0, "total_tokens": n_prompt}
    withheld = {**choice, "message": message, "finish_reason": CONTENT_FILTER}
    return {**body, "choices": [withheld], "usage": usage}


async def _silence(request: Request) -> None:
    """Wait until the caller gives up."""
    waited = 0.0
    while waited < LONGEST_SILENCE and not await request.is_disconnected():
        await asyncio.sleep(0.05)
        waited += 0.05


def _break_connection(request: Request) -> None:
    """Reset the connection that a request came on, so that its caller gets no answer."""
    # Uvicorn gives an application the connection's transport by no public name.
    transport = request.receive.__self__.transport  # type: ignore[attr-defined]
    linger = struct.pack("ii", 1, 0)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    transport.abort()


def faulty_app(latency_ms: float, context_tokens: int) -> Starlette:
    app = create_app(latency_ms, context_tokens)
    return Starlette(
        routes=[*Faults(app).routes(), *app.routes], exception_handlers=app.exception_handlers
    )


if __name__ == "__main__":
    options = arguments().parse_args()
    serve(faulty_app(options.latency_ms, options.context_tokens), options.port, options.parent)
