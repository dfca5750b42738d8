"""One flight per request, among all processes that share a ledger.

A process that asks holds a lock on one byte of a file beside the ledger, at an offset that the
request's key gives; who wants the same meanwhile waits and then finds the answer in the ledger. The
system gives a dead process's locks free, so nothing is left behind by a kill. What belongs here:
those locks. Joining a flight inside one session is `session.py`.
"""

import asyncio
import fcntl
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

_OPEN_FILE_LOCK: int | None = getattr(fcntl, "F_OFD_SETLK", None)
"""Linux: locks of an open file, so that two sessions of one process keep apart too. Elsewhere locks
are a process's."""
_FIRST_LOOK, _LATER_LOOKS = 0.02, 0.25
"""Seconds between looks at a flight of another process, growing to the second."""


class Flights:
    """The flights of one session over the ledger at `ledger_path`."""

    def __init__(self, ledger_path: Path):
        self._file = os.open(f"{ledger_path}.flights", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def close(self) -> None:
        """Give every flight up."""
        os.close(self._file)

    @asynccontextmanager
    async def one(self, key: str) -> AsyncIterator[None]:
        """Alone with request `key` (hex) among all sessions that use this; waits for its turn."""
        # Two keys may share a byte in 2^60: then one waits for the other, and nothing else.
        offset, pause = int(key[:15], 16), _FIRST_LOOK
        while not self._take(offset):
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LATER_LOOKS)
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
