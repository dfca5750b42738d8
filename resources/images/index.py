"""The image index: which address gave which stored image, so that nothing is fetched twice.

What belongs here: one SQLite file (WAL) of addresses with the image that came from each and what was
measured of it. What does not: the images (`store.py`) and those that were refused, which the
next run asks for again.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock

from methods.ids import canonical_json
from resources.batched import batched

_TABLE = """
CREATE TABLE IF NOT EXISTS fetched (
    url TEXT PRIMARY KEY,
    image_id TEXT NOT NULL,
    facts TEXT NOT NULL,
    fetched_at TEXT NOT NULL
) STRICT, WITHOUT ROWID
"""
_RECORD = """
INSERT INTO fetched (url, image_id, facts, fetched_at) VALUES (?, ?, ?, ?)
ON CONFLICT (url) DO UPDATE
SET image_id = excluded.image_id, facts = excluded.facts, fetched_at = excluded.fetched_at
"""
_LOOKUP_CHUNK = 500
BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""


class Entry(NamedTuple):
    """What an address gave: the image, what is known of it, and when (UTC, ISO 8601)."""

    image_id: str
    facts: dict[str, Any]
    fetched_at: str


class ImageIndex:
    """Knows and records addresses; safe among threads and among processes that each open one."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.Lock()
        # Transactions are begun where they are wanted, not by the module.
        self._connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=False
        )
        # WAL alone may lose the last commits with the power, and then images are fetched again.
        self._connection.execute("PRAGMA synchronous=FULL")
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        with FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT):
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute(_TABLE)

    def known(self, urls: Iterable[str]) -> dict[str, Entry]:
        """What there is of these addresses, by address."""
        found: dict[str, Entry] = {}
        for chunk in batched(urls, _LOOKUP_CHUNK):
            marks = ",".join("?" * len(chunk))
            with self._lock:
                rows = self._connection.execute(
                    f"SELECT url, image_id, facts, fetched_at FROM fetched WHERE url IN ({marks})",
                    chunk,
                ).fetchall()
            found |= {row[0]: Entry(row[1], json.loads(row[2]), row[3]) for row in rows}
        return found

    def record(self, rows: Sequence[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Keep (address, image id, facts as JSON values), durable on return; all of them or none.

        What an address gave last stands. Raises ValueError for facts that are no JSON values.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        values = [(url, image_id, canonical_json(facts), now) for url, image_id, facts in rows]
        with self._transaction() as connection:
            connection.executemany(_RECORD, values)

    def close(self) -> None:
        """Close the file; nothing is asked of the index afterwards."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
