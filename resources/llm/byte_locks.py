"""Locks on single bytes of a file, by which processes keep out of each other's way.

The operating system releases the locks of a dead process, so a kill leaves nothing behind. Nothing is
written to the file. What belongs here: taking and releasing. What a byte stands for is its user's:
a request (`request_locks.py`), a place (`shared/places.py`), a run's share of a budget
(`shared/accounts.py`).
"""

import fcntl
import os
import struct
import weakref
from pathlib import Path

_SET: int | None = getattr(fcntl, "F_OFD_SETLK", None)
_GET: int | None = getattr(fcntl, "F_OFD_GETLK", None)
"""Linux: locks that belong to an open file, so that they also work within one process. Elsewhere a lock
belongs to a process."""
_FLOCK = struct.Struct("hhqqi4x")
"""struct flock: type, whence, start, length, process."""


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
        found = fcntl.fcntl(
            self._file, _GET, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, offset, n_bytes, 0)
        )
        return bool(_FLOCK.unpack(found)[0] != fcntl.F_UNLCK)

    def _lock(self, operation: int, offset: int) -> None:
        if _SET is None:
            fcntl.lockf(self._file, operation | fcntl.LOCK_NB, 1, offset)
            return
        kind = fcntl.F_UNLCK if operation == fcntl.LOCK_UN else fcntl.F_WRLCK
        fcntl.fcntl(self._file, _SET, _FLOCK.pack(kind, os.SEEK_SET, offset, 1, 0))
