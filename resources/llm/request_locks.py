"""Locks that keep processes with one ledger from sending identical requests at the same time.

A process that sends a request holds a lock on one byte of a file beside the ledger, at an offset that
the request's key gives. A process with an identical request waits for the lock and then finds the
answer in the ledger. What belongs here: those locks. Identical requests within one stage share their
outcome in `model_calls.py`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from resources.llm.byte_locks import ByteLocks

_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25
"""Seconds between attempts to take a lock that another process holds; the pause grows."""


class RequestLocks:
    """The locks of one stage's requests over the ledger at `ledger_path`."""

    def __init__(self, ledger_path: Path):
        self._locks = ByteLocks(Path(f"{ledger_path}.flights"))

    def close(self) -> None:
        """Release every lock."""
        self._locks.close()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of the request `key` (hex); waits until nobody else holds it."""
        # Two keys share a byte by a chance of 1 in 2^60; one request then waits for the other.
        offset, pause = int(key[:15], 16), _FIRST_PAUSE
        while not self._locks.take(offset):
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            yield
        finally:
            self._locks.release(offset)
