"""Locks that keep processes with one ledger from sending identical requests at the same time.

A process that sends a request holds a lock on one byte of a file beside the ledger, at an offset that
the request's key gives. A process with an identical request waits for the lock and then finds the
answer in the ledger. The operating system releases the locks of a dead process, so a kill leaves
nothing behind. What belongs here: those locks. Identical requests within one stage share their
outcome in `model_calls.py`.
"""

import asyncio
import fcntl
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_OPEN_FILE_LOCK: int | None = getattr(fcntl, "F_OFD_SETLK", None)
"""Linux: locks that belong to an open file, so that they also work within one process. Elsewhere a lock
belongs to a process."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25
"""Seconds between attempts to take a lock that another process holds; the pause grows."""


class RequestLocks:
    """The locks of one stage's requests over the ledger at `ledger_path`."""

    def __init__(self, ledger_path: Path):
        self._file = os.open(f"{ledger_path}.flights", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        """Release every lock."""
        os.close(self._file)

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of the request `key` (hex); waits until nobody else holds it."""
        # Two keys share a byte by a chance of 1 in 2^60; one request then waits for the other.
        offset, pause = int(key[:15], 16), _FIRST_PAUSE
        while not self._take(offset):
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            yield
        finally:
            self._lock(fcntl.LOCK_UN, offset)

    def _take(self, offset: int) -> bool:
        try:
            self._lock(fcntl.LOCK_EX, offset)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def _lock(self, operation: int, offset: int) -> None:
        if _OPEN_FILE_LOCK is None:
            fcntl.lockf(self._file, operation | fcntl.LOCK_NB, 1, offset)
            return
        kind = fcntl.F_UNLCK if operation == fcntl.LOCK_UN else fcntl.F_WRLCK
        # struct flock: type, whence, start, length, process.
        lock = struct.pack("hhqqi4x", kind, os.SEEK_SET, offset, 1, 0)
        fcntl.fcntl(self._file, _OPEN_FILE_LOCK, lock)
