"""The mock model server with OpenAI's Batch and Files API: `BatchServer` runs it as a process.

Each request gets the answer of a live call, in an order that is never that of the input. Faults that
are taken at `/faults`: `batch_expire` leaves `count` requests of the next batch unanswered;
`batch_item_status` and `content_filter` are of so many requests, `batch_fail` and `batch_lost` of so
many batches.
"""

import asyncio
import hashlib
import json
import time
import uuid
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resources.mock_server.__main__ import arguments
from resources.mock_server.chat_completion import chat_body
from resources.mock_server.chat_request import ApiError
from resources.mock_server.process import MockServerProcess
from resources.mock_server.server import serve
from tests.doubles.fault_server import CONTENT_FILTER, faulty_app, without_text

EXPIRE, ITEM_STATUS, FILTER = "batch_expire", "batch_item_status", CONTENT_FILTER
FAIL, LOST = "batch_fail", "batch_lost"


class BatchServer(MockServerProcess):
    """The server in a child process; a batch stays in progress for `batch_seconds`."""

    module = "tests.doubles.batch_api"

    def __init__(self, batch_seconds: float = 0.0):
        super().__init__()
        self._options["--batch-seconds"] = batch_seconds


class BatchApi:
    """The files and batches, in memory; used from the event loop only."""

    def __init__(self, seconds: float):
        self._seconds = seconds
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._faults: list[dict[str, Any]] = []
        self._n_answered = 0
        self._runs: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        return [
            Route("/faults", self.fault, methods=["POST"]),
            Route("/batched", self.batched),
            Route("/v1/files", self.upload, methods=["POST"]),
            Route("/v1/files/{id}/content", self.content),
            Route("/v1/batches", self.create, methods=["POST"]),
            Route("/v1/batches", self.listed),
            Route("/v1/batches/{id}", self.retrieve),
            Route("/v1/batches/{id}/cancel", self.cancel, methods=["POST"]),
        ]

    async def fault(self, request: Request) -> Response:
        fault = {"count": 1, "status": 500, **await request.json()}
        assert fault["kind"] in (EXPIRE, ITEM_STATUS, FILTER, FAIL, LOST)
        self._faults.append(fault)
        return JSONResponse({})

    async def batched(self, request: Request) -> Response:
        """How many requests of batches were answered."""
        return JSONResponse(self._n_answered)

    async def upload(self, request: Request) -> Response:
        async with request.form() as form:
            content = await form["file"].read()  # type: ignore[union-attr]
        return JSONResponse({"object": "file", "purpose": "batch", "id": self._kept(content)})

    async def content(self, request: Request) -> Response:
        return Response(self._files[request.path_params["id"]])

    async def create(self, request: Request) -> Response:
        asked = await request.json()
        lines = [json.loads(line) for line in self._files[asked["input_file_id"]].splitlines()]
        batch = {"object": "batch", "status": "validating", "created_at": int(time.time()), **asked}
        batch |= {"id": f"batch_{uuid.uuid4().hex}", "request_counts": _counts(0, 0, len(lines))}
        if not self._taken(LOST):
            self._batches[batch["id"]] = batch
            run = asyncio.create_task(self._run(batch, lines))
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)
        return JSONResponse(batch)

    async def listed(self, request: Request) -> Response:
        """The newest first, all on one page."""
        found = list(self._batches.values())[::-1]
        return JSONResponse({"object": "list", "data": found, "has_more": False})

    async def retrieve(self, request: Request) -> Response:
        batch = self._batches.get(request.path_params["id"])
        unknown = ApiError(404, "There is no batch of this id.", "invalid_request_error")
        return JSONResponse(batch) if batch else JSONResponse(unknown.body(), unknown.status)

    async def cancel(self, request: Request) -> Response:
        batch = self._batches[request.path_params["id"]]
        assert batch["status"] in ("validating", "in_progress")
        batch["status"] = "cancelled"
        return JSONResponse(batch)

    async def _run(self, batch: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        if self._taken(FAIL):
            errors = [{"code": FAIL, "message": "This fault was asked for at /faults."}]
            batch.update(status="failed", errors={"object": "list", "data": errors})
            return
        batch["status"] = "in_progress"
        await asyncio.sleep(self._seconds)
        if batch["status"] == "cancelled":
            return
        # The API promises no order: who goes by place and not by `custom_id` must fail.
        shuffled = sorted(
            lines, key=lambda line: hashlib.sha256(line["custom_id"].encode()).digest()
        )
        shuffled = shuffled[::-1] if shuffled == lines else shuffled
        expire = next((fault for fault in self._faults if fault["kind"] == EXPIRE), None)
        if expire:
            self._faults.remove(expire)
        n_expired = min(expire["count"], len(lines)) if expire else 0
        output, errors = [], [_line(line, None) for line in shuffled[:n_expired]]
        for line in shuffled[n_expired:]:
            status, body = await self._answer(line)
            response = {"status_code": status, "request_id": "r", "body": body}
            (output if status == 200 else errors).append(_line(line, response))
        batch["request_counts"] = _counts(len(output), len(errors) - n_expired, len(lines))
        for name, written in (("output_file_id", output), ("error_file_id", errors)):
            batch[name] = self._kept(b"".join(written)) if written else None
        batch["status"] = "expired" if n_expired else "completed"

    async def _answer(self, line: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self._n_answered += 1
        fault = self._taken(ITEM_STATUS)
        is_withheld = self._taken(FILTER) is not None
        try:
            if fault:
                raise ApiError(fault["status"], "This fault was asked for.", "server_error")
            body = await asyncio.to_thread(chat_body, line["body"])
            return 200, without_text(body, FILTER) if is_withheld else body
        except ApiError as error:
            return error.status, error.body()

    def _taken(self, kind: str) -> dict[str, Any] | None:
        """Use up one of the first fault of a kind."""
        for fault in self._faults:
            if fault["kind"] == kind:
                fault["count"] -= 1
                self._faults = [other for other in self._faults if other["count"] > 0]
                return fault
        return None

    def _kept(self, content: bytes) -> str:
        name = f"file-{uuid.uuid4().hex}"
        self._files[name] = content
        return name


def _counts(completed: int, failed: int, total: int) -> dict[str, int]:
    return {"completed": completed, "failed": failed, "total": total}


def _line(line: dict[str, Any], response: dict[str, Any] | None) -> bytes:
    expired = {"code": "batch_expired", "message": "The completion window expired."}
    done = {"custom_id": line["custom_id"], "response": response}
    return json.dumps({**done, "error": None if response else expired}).encode() + b"\n"


def main() -> None:
    parser = arguments()
    parser.add_argument("--batch-seconds", type=float)
    options = parser.parse_args()
    app = faulty_app(options.latency_ms, options.context_tokens)
    own = BatchApi(options.batch_seconds).routes()
    serve(
        Starlette(routes=[*own, *app.routes], exception_handlers=app.exception_handlers),
        options.port,
        options.parent,
    )


if __name__ == "__main__":
    main()
