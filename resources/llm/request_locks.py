"""Locks that keep processes with one ledger from sending identical requests at the same time.

A process that sends a request holds a lock on a number that the request's key gives: on that byte of a
file beside the ledger, or in the ledger's database. A process with an identical request waits for the
lock and then finds the answer in the ledger. What belongs here: those locks, and locks on single bytes
of a file. Identical requests within one stage share their outcome in `model_calls.py`.
"""

import asyncio
import fcntl
import os
import struct
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from resources.llm.watchdog import waits_for
from resources.stores.address import database

_SET: int | None = getattr(fcntl, "F_OFD_SETLK", None)
_GET: int | None = getattr(fcntl, "F_OFD_GETLK", None)
"""Linux: locks that belong to an open file, so that they also work within one process. Elsewhere a lock
belongs to a process."""
_FLOCK = struct.Struct("hhqqi4x")
"""struct flock: type, whence, start, length, process."""


class Locks(Protocol):
    """Locks on numbers that this object holds, until it is closed or gone."""

    def take(self, offset: int) -> bool:
        """Take the lock of a number; returns False if another process holds it."""

    def release(self, offset: int) -> None:
        """Release the lock of a number."""

    def held_by_others(self, offset: int, n_bytes: int = 1) -> bool:
        """Whether another process holds the lock of one of the numbers."""

    def close(self) -> None:
        """Release every lock."""


def open_locks(path: Path) -> Locks:
    """Locks of all processes that use the stores: in the file at `path`, or in their database."""
    address = database()
    if address is None:
        return ByteLocks(path)
    from resources.postgres.locks import AdvisoryLocks

    return AdvisoryLocks(address)


class ByteLocks:
    """The locks that this object holds in the file at `path`, until it is closed or gone."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.close = weakref.finalize(self, os.close, self._file)
        """Release every lock."""

    def take(self, offset: int) -> bool:
        """Take the lock of a byte; returns False if another process holds it."""
        try:
            self._lock(fcntl.LOCK_EX, offset)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, offset: int) -> None:
        """Release the lock of a byte."""
        self._lock(fcntl.LOCK_UN, offset)

    def held_by_others(self, offset: int, n_bytes: int = 1) -> bool:
        """Whether another process holds the lock of one of the bytes."""
        if _GET is None:
            if n_bytes > 1:
                return False  # It would take a try for each byte.
            free = self.take(offset)
            if free:
                self.release(offset)
            return not free
        lock = fcntl.fcntl(
            self._file, _GET, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, offset, n_bytes, 0)
        )
        return bool(_FLOCK.unpack(lock)[0] != fcntl.F_UNLCK)

    def _lock(self, operation: int, offset: int) -> None:
        if _SET is None:
            fcntl.lockf(self._file, operation | fcntl.LOCK_NB, 1, offset)
            return
        kind = fcntl.F_UNLCK if operation == fcntl.LOCK_UN else fcntl.F_WRLCK
        fcntl.fcntl(self._file, _SET, _FLOCK.pack(kind, os.SEEK_SET, offset, 1, 0))


_FIRST_PAUSE, _LONGEST_PAUSE = 0.02, 0.25
"""Seconds between attempts to take a lock that another process holds; the pause grows."""


class RequestLocks:
    """The locks of one stage's requests over the ledger at `ledger_path`."""

    def __init__(self, ledger_path: Path):
        self._locks = open_locks(Path(f"{ledger_path}.flights"))

    def close(self) -> None:
        """Release every lock."""
        self._locks.close()

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncIterator[None]:
        """Hold the lock of the request `key` (hex); waits until nobody else holds it."""
        # Two keys share a byte by a chance of 1 in 2^60; one request then waits for the other.
        offset, pause = int(key[:15], 16), _FIRST_PAUSE
        while not self._locks.take(offset):
            waits_for("another process that sends the same request")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        try:
            yield
        finally:
            self._locks.release(offset)
