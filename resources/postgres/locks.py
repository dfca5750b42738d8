"""Locks that processes on several machines take by number, in a Postgres database.

What belongs here: the locks of one object, which a session of its own holds: they are released when it
is closed, or its process is gone.
"""

from contextlib import suppress

from resources.migrations import StoreAway, StoreError
from resources.postgres.connection import PostgresConnection, shown_address

_HELD = """
SELECT 1 FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND pid <> pg_backend_pid() AND granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND ((classid::bigint << 32) | objid::bigint) BETWEEN $1 AND $2
LIMIT 1
"""


class AdvisoryLocks:
    """The locks that this object holds in the database at `address`, as `ByteLocks` holds them."""

    def __init__(self, address: str):
        self._connection = PostgresConnection(address, "locks", shown_address(address), {}, None)
        self._held: set[int] = set()
        self._n_sessions = self._connection.n_sessions

    def take(self, offset: int) -> bool:
        """Take the lock of a number; returns False if another process holds it."""
        if offset not in self._held and self._take(offset):
            self._held.add(offset)
        if self._n_sessions != self._connection.n_sessions:
            # A session that broke has lost its locks: those that are free still are this one's again.
            self._n_sessions = self._connection.n_sessions
            self._held = {held for held in self._held if held == offset or self._take(held)}
        return offset in self._held

    def release(self, offset: int) -> None:
        """Release the lock of a number. A session that broke holds none: no other is opened for it."""
        if offset in self._held:
            self._held.remove(offset)
            with suppress(StoreAway):
                self._connection.native("SELECT pg_advisory_unlock($1)", [offset], anew=False)

    def held_by_others(self, offset: int, n_bytes: int = 1) -> bool:
        """Whether another process holds the lock of one of the numbers."""
        asked = self._connection.native(_HELD, [offset, offset + n_bytes - 1])
        return asked.fetchone() is not None

    def close(self) -> None:
        """Release every lock."""
        if self._held:
            # A server notices later that a session has ended.
            self._held.clear()
            with suppress(StoreError):
                self._connection.native("SELECT pg_advisory_unlock_all()", anew=False)
        self._connection.close()

    def _take(self, offset: int) -> bool:
        asked = self._connection.native("SELECT pg_try_advisory_lock($1)", [offset])
        return bool(asked.fetchone()[0])
