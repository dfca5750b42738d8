"""Batches: many chat calls in one file, answered later in another.

What belongs here: the batches behind `/v1/batches` and their run from validation to end. They are
kept in memory and are gone when the server stops: a caller that outlives the server finds its batch
unknown. Part of the offline stand-in; no model is called.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from resources.offline import fault_injection
from resources.offline.batch import CANCELLABLE, Batch, read_batch_request
from resources.offline.batch_input import BatchInput, Item, error_body, read_input
from resources.offline.batch_output import Line, answer_line, unanswered_line
from resources.offline.errors import ApiError, BadRequest, NotFound
from resources.offline.files import Files, StoredFile

_LONGEST_PAGE = 100


class Batches:
    """The batches and their runs; used from the event loop only."""

    def __init__(
        self,
        files: Files,
        injector: fault_injection.FaultInjector,
        pool: ThreadPoolExecutor,
        seconds: float,
        context: int,
    ) -> None:
        self._files = files
        self._injector = injector
        self._pool = pool
        self._seconds = seconds
        self._context = context
        self._batches: dict[str, Batch] = {}
        self._runs: set[asyncio.Task[None]] = set()

    async def create(self, payload: dict[str, object]) -> Batch:
        """Create a batch, check its input and start its run; its status is still `validating`."""
        request = read_batch_request(payload)
        found = await self._read(request.input_file_id)
        batch = Batch(request, found.model or None, found.errors)
        fault = None if found.errors else self._injector.begin_batch(found.model)
        unanswered = 0
        if fault is not None and fault.kind == fault_injection.BATCH_LOST:
            return batch
        if fault is not None and fault.kind == fault_injection.BATCH_FAIL:
            batch.errors.append(error_body(fault.kind, str(fault.error())))
        if fault is not None and fault.kind == fault_injection.BATCH_EXPIRE:
            unanswered = fault.left
        self._batches[batch.id] = batch
        run = asyncio.create_task(self._run(batch, found.items, unanswered))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)
        return batch

    def get(self, batch_id: str) -> Batch:
        """Return a batch. Raises NotFound."""
        batch = self._batches.get(batch_id)
        if batch is None:
            raise NotFound(f"No batch found with id '{batch_id}'.")
        return batch

    def page(self, after: str | None, limit: str) -> dict[str, object]:
        """Return a page of the list of batches, the newest first."""
        if not limit.isdecimal() or not 1 <= int(limit) <= _LONGEST_PAGE:
            message = f"Invalid 'limit': expected an integer from 1 to {_LONGEST_PAGE}."
            raise BadRequest(message, "invalid_value", "limit")
        ids = list(self._batches)[::-1]
        start = ids.index(self.get(after).id) + 1 if after else 0
        shown = ids[start : start + int(limit)]
        return {
            "object": "list",
            "data": [self._batches[batch_id].body() for batch_id in shown],
            "first_id": shown[0] if shown else None,
            "last_id": shown[-1] if shown else None,
            "has_more": start + len(shown) < len(ids),
        }

    def cancel(self, batch_id: str) -> Batch:
        """Cancel a batch: it ends with the answers it has. A second call changes nothing."""
        batch = self.get(batch_id)
        if batch.status in CANCELLABLE:
            batch.move("cancelling")
            batch.cancel_asked.set()
        elif batch.status not in ("cancelling", "cancelled"):
            message = f"Cannot cancel a batch with status '{batch.status}'."
            raise ApiError(409, message, "invalid_request_error")
        return batch

    async def _read(self, file_id: str) -> BatchInput:
        """Read the input file; as in OpenAI's API, a missing file is an error of the batch."""
        file = self._files.find(file_id)
        if file is None:
            error = error_body("invalid_request", f"Cannot find file {file_id}.", "file_id")
            return BatchInput("", [], [error])
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, read_input, file.content)

    async def _run(self, batch: Batch, items: list[Item], unanswered: int) -> None:
        """Run a batch from its validation to its end."""
        if batch.errors:
            batch.move("failed")
            return
        begun = time.monotonic()
        batch.total = len(items)
        if not batch.cancel_asked.is_set():
            batch.move("in_progress")
        lines = await self._answer(batch, items[: max(0, len(items) - unanswered)], begun)
        await _pause(batch, begun + self._seconds)
        left = items[len(lines) :]
        if batch.cancel_asked.is_set():
            end, code = "cancelled", "batch_cancelled"
        else:
            batch.move("finalizing")
            end, code = "expired" if left else "completed", "batch_expired"
        batch.count_tokens(lines)
        batch.output_file_id = self._write(batch, "output", (x.encoded for x in lines if x.ok))
        failed = [line.encoded for line in lines if not line.ok]
        failed += [unanswered_line(item, code) for item in left]
        batch.error_file_id = self._write(batch, "error", failed)
        batch.move(end)

    async def _answer(self, batch: Batch, items: list[Item], begun: float) -> list[Line]:
        """Answer requests one by one, spread over the batch's time, until it is cancelled."""
        loop = asyncio.get_running_loop()
        lines: list[Line] = []
        for number, item in enumerate(items, start=1):
            await _pause(batch, begun + self._seconds * number / batch.total)
            if batch.cancel_asked.is_set():
                break
            fault = self._injector.begin_item(batch.model, item.task)
            line = await loop.run_in_executor(self._pool, answer_line, item, fault, self._context)
            lines.append(line)
            batch.completed += line.ok
            batch.failed += not line.ok
        return lines

    def _write(self, batch: Batch, kind: str, lines: Iterable[bytes]) -> str | None:
        """Store a file of lines and return its id; without lines there is no file."""
        content = b"".join(lines)
        if not content:
            return None
        name = f"{batch.id}_{kind}.jsonl"
        return self._files.keep(StoredFile(name, "batch_output", content)).id


async def _pause(batch: Batch, until: float) -> None:
    """Wait until a time, or until the batch is to be cancelled."""
    seconds = until - time.monotonic()
    if seconds > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(batch.cancel_asked.wait(), seconds)
