"""Locks on numbers between processes: on bytes of a file, or advisory locks of a shared database.

Both kinds of locks are released when their process ends, even if it is killed.
"""

import fcntl
import os
import struct
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, text

from resources.migrations import StoreError, StoreUnavailable
from resources.stores.address import database, packages, shown_address

_FLOCK = struct.Struct("hhqqi4x")
"""The C struct flock: type, whence, start, length, process."""


class Locks(Protocol):
    """A set of locks, held until they are released, the object is closed or its process ends.

    `may_wait` says whether a call may take long, because it asks a server: in an event loop, run it in
    a thread.
    """

    may_wait: bool

    def take(self, offset: int) -> bool:
        """Take the lock of a number; return False if somebody else holds it."""

    def release(self, offset: int) -> None:
        """Release the lock of a number."""

    def close(self) -> None:
        """Release every lock."""


def open_locks(path: Path) -> Locks:
    """Open the locks between processes: in the file at `path`, or in the database of the stores."""
    address = database()
    return ByteLocks(path) if address is None else AdvisoryLocks(address)


class ByteLocks:
    """Locks on single bytes of the file at `path`, which stays empty.

    They are Linux's locks of an open file, which also work within one process.
    """

    may_wait = False

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self.close = weakref.finalize(self, os.close, self._file)
        """Release every lock."""

    def take(self, offset: int) -> bool:
        try:
            self._lock(fcntl.F_WRLCK, offset)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, offset: int) -> None:
        self._lock(fcntl.F_UNLCK, offset)

    def _lock(self, kind: int, offset: int) -> None:
        lock = _FLOCK.pack(kind, os.SEEK_SET, offset, 1, 0)
        fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, lock)


class AdvisoryLocks:
    """Advisory locks of the Postgres database at `address`; one session of this object holds them."""

    may_wait = True

    def __init__(self, address: str):
        with packages():
            from resources.stores.postgres import engine_at
        self._engine = engine_at(address, shown_address(address), "locks", {})
        self._session: Connection | None = None
        self._held: set[int] = set()
        # One thread uses the session at a time: tasks of an event loop call from several threads.
        self._one_at_a_time = threading.RLock()
        with self._one_at_a_time:
            self._ask("SELECT 1")

    def take(self, offset: int) -> bool:
        with self._one_at_a_time:
            if offset not in self._held and self._try(offset):
                self._held.add(offset)
            return offset in self._held

    def release(self, offset: int) -> None:
        """Release a lock. A broken session holds no locks, and no new session is opened for it."""
        with self._one_at_a_time:
            if offset in self._held:
                self._held.remove(offset)
                self._ask_this_session("SELECT pg_advisory_unlock(:number)", number=offset)

    def close(self) -> None:
        with self._one_at_a_time:
            if self._held:
                # Unlock explicitly: a server notices the end of a session with a delay.
                self._held.clear()
                self._ask_this_session("SELECT pg_advisory_unlock_all()")
            self._end()
            self._engine.dispose()

    def _try(self, offset: int) -> bool:
        return bool(self._ask("SELECT pg_try_advisory_lock(:number)", number=offset))

    def _ask(self, sql: str, **values: Any) -> Any:
        """Run a query and return its first value; open a new session if the present one broke."""
        if self._session is not None:
            with suppress(StoreUnavailable):
                return self._value(self._session, sql, values)
            self._end()
        self._session = self._engine.connect()
        try:
            # The broken session lost its locks: the new session takes those that are still free.
            for number in sorted(self._held):
                if not self._value(
                    self._session, "SELECT pg_try_advisory_lock(:number)", {"number": number}
                ):
                    self._held.remove(number)
            return self._value(self._session, sql, values)
        except StoreError:
            self._end()
            raise

    def _ask_this_session(self, sql: str, **values: Any) -> None:
        """Run a query in the open session; end a broken session, which SQLAlchemy would refuse."""
        if self._session is not None:
            try:
                self._value(self._session, sql, values)
            except StoreError:
                self._end()

    def _end(self) -> None:
        if self._session is not None:
            with suppress(StoreError):
                self._session.invalidate()
                self._session.close()
            self._session = None

    @staticmethod
    def _value(session: Connection, sql: str, values: dict[str, Any]) -> Any:
        return session.execute(text(sql), values).scalar()
