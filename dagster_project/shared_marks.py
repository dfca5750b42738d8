"""Marks of runs at work in a shared installation, and of its daemon: a lock of the database, held by
the process.

What belongs here: holding one, and which are held. A machine's files would say nothing to another one.
The server lets go of a lock when the session of its process ends, within a minute when the machine is
gone. A session that broke, with a server that was started again, is opened anew within seconds; so a
run is dead when its lock is free at two looks that are further apart.
"""

import threading
from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID

import psycopg

from dagster_project.shared_storage import at_work, database
from resources.migrations import StoreError
from resources.stores.address import shown_database

LOOK_SECONDS = 5.0
"""How often the process of a run looks whether its session is still there."""
TWO_LOOKS = 25.0
"""Seconds between the two looks of who ends dead runs: enough for some of the above."""
DAEMON = "6c6f6f6d-0000-0000-0000-000000000000"
"""In the place of a run's id: the daemon, of which an installation has one."""
_SETTINGS = {"tcp_keepalives_idle": 20, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""By which the server notices that a machine is gone, in seconds and times."""
_HELD = """
SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class Mark:
    """The mark of a run, or of DAEMON, held until `close` or the end of the process.

    While a run is marked, Dagster's storage waits for a server that is away. Raises StoreError where
    another process has the daemon's.
    """

    def __init__(self, run_id: str):
        self._run_id, self._key = run_id, _key(run_id)
        self._ended = threading.Event()
        self._session = _connect() if run_id == DAEMON else self._begun()
        if run_id == DAEMON and not self._is_free():
            self._session.close()
            raise StoreError(
                f"A daemon works on {shown_database()} already, of this installation or of another: "
                "stop it first, or name a database of your own in LOOM_STORES."
            )
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()
        if run_id != DAEMON:
            at_work.add(run_id)

    def close(self) -> None:
        """Let go of the mark."""
        at_work.discard(self._run_id)
        self._ended.set()
        self._thread.join()
        with suppress(psycopg.Error):
            # The server notices the end of a session some time later.
            self._session.execute("SELECT pg_advisory_unlock(%s)", (self._key,))
        self._session.close()

    def _is_free(self) -> bool:
        """Take the mark unless another holds it, without a wait."""
        taken = self._session.execute("SELECT pg_try_advisory_lock(%s)", (self._key,)).fetchone()
        return taken == (True,)

    def _begun(self) -> "psycopg.Connection[tuple[object, ...]]":
        session = _connect()
        session.execute("SELECT pg_advisory_lock(%s)", (self._key,))
        return session

    def _keep(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            try:
                self._session.execute("SELECT 1")
            except psycopg.Error:
                with suppress(psycopg.Error):
                    self._session.close()
                    self._session = self._begun()


def held(run_ids: Iterable[str]) -> set[str]:
    """Those of the runs whose marks are held."""
    with _connect() as session:
        keys = {key for (key,) in session.execute(_HELD)}
    return {run_id for run_id in run_ids if _key(run_id) in keys}


def _connect() -> "psycopg.Connection[tuple[object, ...]]":
    address = database()
    if address is None:
        raise StoreError("LOOM_STORES is not set any more: start again with it.")
    session = psycopg.connect(address, autocommit=True)
    for name, value in _SETTINGS.items():
        session.execute(f"SET {name} = {value}")
    return session


def _key(run_id: str) -> int:
    """The number of the lock: 63 bits of the run's id."""
    return UUID(run_id).int >> 65
