"""The ledger: every model call that was answered, by the hash of what was asked.

It is the cache, the resume point, the cost account and the audit trail in one SQLite file (WAL).
A response is committed and flushed before anyone sees it. What belongs here: that table. Images are
in it by SHA-256 inside the request, never as base64; keys and secrets never come near it.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from filelock import FileLock

from methods.ids import canonical_json
from resources.llm.request import Completion

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    key TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_version TEXT NOT NULL,
    stage TEXT NOT NULL,
    request BLOB NOT NULL,
    response TEXT NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    seconds REAL NOT NULL,
    attempts INTEGER NOT NULL,
    created_at TEXT NOT NULL
) WITHOUT ROWID
"""
_LOOKUP_CHUNK = 500
BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""


class Call(NamedTuple):
    """One answered call as it is kept; `request` is the canonical request."""

    key: str
    provider: str
    model: str
    prompt_version: str
    stage: str
    request: dict[str, object]
    response: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    seconds: float
    attempts: int
    created_at: str

    def completion(self, *, cached: bool) -> Completion:
        """The call as its asker sees it."""
        return Completion(
            self.key,
            self.response,
            self.finish_reason,
            self.prompt_tokens,
            self.completion_tokens,
            self.cost_usd,
            cached,
        )


class Ledger:
    """Reads and adds calls; safe among threads and processes, a connection a use."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        with FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT), self._connection() as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(_SCHEMA)

    def find(self, keys: Sequence[str]) -> dict[str, Call]:
        """The calls among `keys` that were answered."""
        found: dict[str, Call] = {}
        with self._connection() as connection:
            for start in range(0, len(keys), _LOOKUP_CHUNK):
                chunk = keys[start : start + _LOOKUP_CHUNK]
                marks = ",".join("?" * len(chunk))
                for row in connection.execute(f"SELECT * FROM calls WHERE key IN ({marks})", chunk):
                    found[row[0]] = _call(row)
        return found

    def add(self, calls: Iterable[Call]) -> None:
        """Keep `calls`, durable on return. The first answer to a request stands, not a second."""
        rows = [
            call._replace(request=zlib.compress(canonical_json(call.request).encode()))  # type: ignore[arg-type]
            for call in calls
        ]
        marks = ",".join("?" * len(Call._fields))
        with self._connection() as connection, connection:
            # Not INSERT OR IGNORE: that would also drop, without a word, a row that lacks a value.
            connection.executemany(
                f"INSERT INTO calls VALUES ({marks}) ON CONFLICT (key) DO NOTHING", rows
            )

    def __iter__(self) -> Iterator[Call]:
        """Every call, by key."""
        with self._connection() as connection:
            for row in connection.execute("SELECT * FROM calls ORDER BY key"):
                yield _call(row)

    def __len__(self) -> int:
        with self._connection() as connection:
            return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=BUSY_TIMEOUT)) as connection:
            # WAL alone may lose the last commits with the power, and they were paid for.
            connection.execute("PRAGMA synchronous=FULL")
            yield connection


def _call(row: Sequence[object]) -> Call:
    call = Call(*row)  # type: ignore[arg-type]
    return call._replace(request=json.loads(zlib.decompress(call.request)))  # type: ignore[arg-type]
