"""Committing answers to the ledger off the event loop, as many at once as have come in.

What comes in while a batch is committed, or within SPACING_SECONDS after that, is the next batch: a
commit costs far more than a row. An answer that comes by itself is committed at once. Any answer is
durable two commits after it came, far below a tenth of a second.
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

from resources.llm.ledger.calls import Call, Charge
from resources.llm.ledger.ledger import Ledger
from resources.llm.watchdog import waits_for
from resources.migrations import StoreError, StoreUnavailable
from resources.stores.sqlite_errors import result_code

PATIENCE_SECONDS = 10.0
"""How long a database that is busy, or full for a moment, is tried again: answers wait for it."""
SPACING_SECONDS = 0.01
"""Between the end of a commit and the next one."""
LOOK_SECONDS = 0.05
"""Seconds after which it is looked again whether a commit that failed has passed."""

Entry = tuple[Call | Charge, asyncio.Future[None]]


def _may_pass(error: BaseException) -> bool:
    """Whether the store is busy, full or away; one that is damaged, deleted or replaced stays so."""
    if isinstance(error, StoreUnavailable):
        return True
    cause = error.__cause__ if isinstance(error, StoreError) else None
    return (
        isinstance(cause, sqlite3.OperationalError) and result_code(cause) != sqlite3.SQLITE_ERROR
    )


class LedgerWriter:
    """Commits calls in batches; `add` returns once its call is durable. A context manager.

    After a failed commit `usable` waits for the next try, and raises the error once the commit failed
    for good, so that no more requests are sent. Answers that are in flight are still accepted, because
    a later commit may succeed.
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
        # What is under way is committed, whatever ended the block.
        await asyncio.shield(asyncio.to_thread(self._thread.join))

    async def add(self, call: Call | Charge) -> None:
        """Returns once `call` is committed. Raises what committing it raised."""
        waits_for("the ledger, to commit an answer")
        durable: asyncio.Future[None] = self._loop.create_future()
        self._queue.put((call, durable))
        # A caller that is cancelled must not take the paid-for answer with it.
        await asyncio.shield(durable)

    async def usable(self) -> None:
        """Return once an answer could be kept, before its request is sent. Raises why it could not."""
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
                # Such as a panic of a library: the thread goes on, and who waits is told.
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
            # Who was cancelled asks no more; retrieving it here keeps asyncio from logging it.
            durable.exception()
