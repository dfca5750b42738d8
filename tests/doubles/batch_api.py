"""The mock model server with OpenAI's Batch and Files API, served in this process.

Each request gets the answer of a live call, in an order that is never that of the input. `fail` makes
its bad days: `EXPIRE` leaves `count` requests of the next batch unanswered; `ITEM_STATUS` and
`CONTENT_FILTER` and `LARGE` are of so many requests, `FAIL` and `LOST` of so many batches.
"""

import asyncio
import hashlib
import json
import time
import uuid
from contextlib import ExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resources.mock_server.chat_completion import chat_body
from resources.mock_server.chat_request import ApiError
from tests.doubles.http_pages import serving_routes

EXPIRE, ITEM_STATUS, CONTENT_FILTER = "batch_expire", "batch_item_status", "content_filter"
FAIL, LOST, LARGE = "batch_fail", "batch_lost", "large"
IS_OPEN = ("validating", "in_progress")


class BatchServer:
    """The server while its block is entered; a batch stays in progress for `batch_seconds`.

    `n_live` and `n_batched` count the requests that were answered, `batches` has the newest first.
    """

    def __init__(self, batch_seconds: float = 0.0):
        self._seconds = batch_seconds
        self.n_live = self.n_batched = 0
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Any]] = {}
        self._faults: list[dict[str, Any]] = []
        self._runs: set[asyncio.Task[None]] = set()
        self._serving = ExitStack()

    def __enter__(self) -> "BatchServer":
        routes = [
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1/files", self._upload, methods=["POST"]),
            Route("/v1/files/{id}/content", self._content),
            Route("/v1/batches", self._create, methods=["POST"]),
            Route("/v1/batches", self._list),
            Route("/v1/batches/{id}", self._retrieve),
        ]
        port = self._serving.enter_context(serving_routes(routes))
        self.base_url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self._serving.close()

    # What a test does with it

    def fail(self, kind: str, count: int = 1, status: int = 500, code: str = FAIL) -> None:
        self._faults.append({"kind": kind, "count": count, "status": status, "code": code})

    @property
    def batches(self) -> list[dict[str, Any]]:
        return list(self._batches.values())[::-1]

    def lines(self, batch: dict[str, Any]) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._files[batch["input_file_id"]].splitlines()]

    def finish(self) -> None:
        while any(batch["status"] in IS_OPEN for batch in self.batches):
            time.sleep(0.01)

    def cancel(self, batch: dict[str, Any]) -> None:
        assert batch["status"] in IS_OPEN
        batch["status"] = "cancelled"

    # The API

    async def _chat(self, request: Request) -> Response:
        self.n_live += 1
        try:
            return JSONResponse(chat_body(await request.json()))
        except ApiError as error:
            return JSONResponse(error.body(), error.status)

    async def _upload(self, request: Request) -> Response:
        # Starlette would read a large form in a thread that outlives a test.
        boundary = request.headers["content-type"].partition("boundary=")[2]
        for part in (await request.body()).split(f"--{boundary}".encode()):
            head, _, content = part.partition(b"\r\n\r\n")
            if b'name="file"' in head:
                name = self._keep(content.removesuffix(b"\r\n"))
        return JSONResponse({"object": "file", "purpose": "batch", "id": name})

    async def _content(self, request: Request) -> Response:
        return Response(self._files[request.path_params["id"]])

    async def _create(self, request: Request) -> Response:
        batch = {"object": "batch", "status": "validating", "created_at": int(time.time())}
        batch |= {"id": f"batch_{uuid.uuid4().hex}", **await request.json()}
        lines = self.lines(batch)
        batch["request_counts"] = _counts(0, 0, len(lines))
        if not self._take(LOST):
            self._batches[batch["id"]] = batch
            run = asyncio.create_task(self._run(batch, lines))
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)
        return JSONResponse(batch)

    async def _list(self, request: Request) -> Response:
        """All on one page."""
        return JSONResponse({"object": "list", "data": self.batches, "has_more": False})

    async def _retrieve(self, request: Request) -> Response:
        batch = self._batches.get(request.path_params["id"])
        unknown = ApiError(404, "There is no batch of this id.", "invalid_request_error")
        return JSONResponse(batch) if batch else JSONResponse(unknown.body(), unknown.status)

    async def _run(self, batch: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        if fault := self._take(FAIL):
            errors = [{"code": fault["code"], "message": "This fault was asked for."}]
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
        output, failed = [], [_line(line, None) for line in shuffled[:n_expired]]
        for line in shuffled[n_expired:]:
            status, body = self._answer(line)
            response = {"status_code": status, "request_id": "r", "body": body}
            (output if status == 200 else failed).append(_line(line, response))
        batch["request_counts"] = _counts(len(output), len(failed) - n_expired, len(lines))
        for name, written in (("output_file_id", output), ("error_file_id", failed)):
            # Some servers end the last line with a line feed, and some do not.
            batch[name] = self._keep(b"".join(written).removesuffix(b"\n")) if written else None
        batch["status"] = "expired" if n_expired else "completed"

    def _answer(self, line: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.n_batched += 1
        fault = self._take(ITEM_STATUS)
        is_withheld = self._take(CONTENT_FILTER) is not None
        try:
            if fault:
                raise ApiError(fault["status"], "This fault was asked for.", "server_error")
            body = chat_body(line["body"])
        except ApiError as error:
            return error.status, error.body()
        if self._take(LARGE):
            body["padding"] = " " * 3_000_000
        if is_withheld:
            body["choices"][0] |= {"message": {"content": None}, "finish_reason": CONTENT_FILTER}
        return 200, body

    def _take(self, kind: str) -> dict[str, Any] | None:
        """Use up one of the first fault of a kind."""
        for fault in self._faults:
            if fault["kind"] == kind:
                fault["count"] -= 1
                self._faults = [other for other in self._faults if other["count"] > 0]
                return fault
        return None

    def _keep(self, content: bytes) -> str:
        name = f"file-{uuid.uuid4().hex}"
        self._files[name] = content
        return name


def _counts(completed: int, failed: int, total: int) -> dict[str, int]:
    return {"completed": completed, "failed": failed, "total": total}


def _line(line: dict[str, Any], response: dict[str, Any] | None) -> bytes:
    expired = {"code": "batch_expired", "message": "The completion window expired."}
    done = {"custom_id": line["custom_id"], "response": response}
    return json.dumps({**done, "error": None if response else expired}).encode() + b"\n"
