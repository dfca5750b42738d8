"""Locks that keep processes with the same ledger from sending identical requests at the same time.

A process that sends a request holds a lock on a number derived from the request's key. A process with
an identical request waits for the lock, and then finds the answer in the ledger. Identical requests
within one stage share their outcome in `model_calls.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from resources.llm.store_calls import StoreCalls
from resources.llm.watchdog import waits_for
from resources.stores.locks import open_locks

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25
"""Seconds between attempts to take a lock that another process holds; the pause grows."""


class RequestLocks:
    """The locks of one stage's requests over the ledger at `ledger_path`."""

    def __init__(self, ledger_path: Path):
        self._locks = open_locks(Path(f"{ledger_path}.flights"))
        self._calls = StoreCalls(self._locks.may_wait)

    def close(self) -> None:
        self._calls.close()
        self._locks.close()

    async def _take(self, offset: int) -> bool:
        """Take a lock. If the caller is cancelled meanwhile, the lock is released."""

        def give_back(is_taken: bool) -> None:
            if is_taken:
                self._locks.release(offset)

        return await self._calls.take(lambda: self._locks.take(offset), give_back)

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of a request; waits until it is free.

        Args:
            key: The key of the request, in hex.
        """
        # Two keys share a number with a probability of 1 in 2^60; one request then waits for the other.
        offset, pause = int(key[:15], 16), _FIRST_PAUSE
        while not await self._take(offset):
            waits_for("another process that sends the same request")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            yield
        finally:
            self._calls.later(lambda: self._locks.release(offset))
