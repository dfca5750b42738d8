"""Group commit: a thread commits answers to the ledger, as many at once as have arrived.

Answers that arrive during a commit, or within SPACING_SECONDS after it, are committed together, because
a commit costs far more than a row. A single answer is committed at once. Every answer is durable after
at most two commits, far less than a tenth of a second.
"""

import asyncio
import queue
import sqlite3
import threading
import time

from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_delay,
    wait_exponential,
)

from resources.files.system_errors import ResourceExhausted
from resources.llm.ledger.calls import Call, Charge
from resources.llm.ledger.ledger import Ledger
from resources.llm.watchdog import waits_for
from resources.migrations import StoreError, StoreUnavailable
from resources.stores.sqlite_errors import result_code

PATIENCE_SECONDS = 10.0
"""Seconds for which commits to a busy or full database are retried, while answers wait."""
SPACING_SECONDS = 0.01
"""Seconds between the end of a commit and the next one."""
LOOK_SECONDS = 0.05
"""Seconds between two checks whether a failed commit has succeeded."""

Entry = tuple[Call | Charge, asyncio.Future[None]]


def _may_pass(error: BaseException) -> bool:
    """Tell whether an error is temporary (busy, full, unreachable), not a damaged or deleted store."""
    if isinstance(error, StoreUnavailable | ResourceExhausted):
        return True
    cause = error.__cause__ if isinstance(error, StoreError) else None
    return (
        isinstance(cause, sqlite3.OperationalError) and result_code(cause) != sqlite3.SQLITE_ERROR
    )


class LedgerWriter:
    """Commits calls in groups; `add` returns once its call is durable. A context manager.

    While a failed commit is retried, `usable` waits. After the last retry it raises the error, so that
    no more requests are sent. Answers in flight are still accepted, because a later commit may succeed.
    """

    def __init__(self, ledger: Ledger):
        self._ledger = ledger
        self._queue: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._failed: Exception | None = None
        self._is_trying_again = False
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)

    async def __aenter__(self) -> "LedgerWriter":
        self._loop = asyncio.get_running_loop()
        self._thread.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        self._queue.put(None)
        # Pending answers are committed, even if the block ends with an error.
        await asyncio.shield(asyncio.to_thread(self._thread.join))

    async def add(self, call: Call | Charge) -> None:
        """Store a call. Returns once it is committed, and raises the error of a failed commit."""
        waits_for("the ledger, to commit an answer")
        durable: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((call, durable))
        # The paid answer is committed even if the caller is cancelled.
        await asyncio.shield(durable)

    async def usable(self) -> None:
        """Wait until answers can be stored, before a request is sent. Raises the last error."""
        while self._is_trying_again:
            waits_for("the ledger, to commit answers that it could not yet write")
            await asyncio.sleep(LOOK_SECONDS)
        if self._failed is not None:
            raise self._failed
        self._ledger.require_in_place()

    def _run(self) -> None:
        more, not_before = True, 0.0
        while more:
            entries: list[Entry] = []
            error: Exception | None = None
            try:
                entry = self._queue.get()
                if entry is not None:
                    time.sleep(max(0.0, not_before - time.monotonic()))
                while entry is not None:
                    entries.append(entry)
                    if self._queue.empty():
                        break
                    entry = self._queue.get_nowait()
                more = entry is not None
                if entries:
                    self._commit([call for call, _ in entries])
            except Exception as failed:
                error = self._failed = failed
            except BaseException as failed:
                # For example a panic of a library. The thread continues, and the
                # waiting callers get the error.
                error = self._failed = StoreError(
                    f"The ledger {self._ledger.path} could not be written "
                    f"({type(failed).__name__}: {failed}): start again; what was committed is kept."
                )
            self._is_trying_again = False
            not_before = time.monotonic() + SPACING_SECONDS
            self._loop.call_soon_threadsafe(_tell, [durable for _, durable in entries], error)
        self._ledger.close()

    def _commit(self, calls: list[Call | Charge]) -> None:
        def note(_: RetryCallState) -> None:
            self._is_trying_again = True

        retrying = Retrying(
            retry=retry_if_exception(_may_pass),
            stop=stop_after_delay(PATIENCE_SECONDS),
            wait=wait_exponential(multiplier=0.05, max=2.0),
            before_sleep=note,
            reraise=True,
        )
        retrying(self._ledger.add, calls)


def _tell(waiting: list[asyncio.Future[None]], error: Exception | None) -> None:
    for durable in waiting:
        if durable.done():
            continue
        if error is None:
            durable.set_result(None)
        else:
            durable.set_exception(error)
            # A cancelled caller does not retrieve the error; retrieving it here
            # keeps asyncio from logging it.
            durable.exception()
