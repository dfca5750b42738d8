"""The store of review events: what people decided, in the order they decided it.

What belongs here: an append-only SQLite file that many processes may write at once, and that an
import can be repeated into. What does not: what the decisions come to (`methods/review.py`).
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from methods.ids import canonical_json
from methods.review import Decision, source_hash_of

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""

COLUMNS = (
    "item_id",
    "content_hash",
    "round",
    "reviewer",
    "verdict",
    "edits",
    "reason",
    "note",
    "seconds",
    "decided_at",
    "source_hash",
)

# The insert trigger is there because INSERT OR REPLACE deletes without asking the delete trigger.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    event_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    item_id      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    round        INTEGER NOT NULL CHECK (round IN (1, 2)),
    reviewer     TEXT NOT NULL CHECK (reviewer <> '' AND reviewer NOT LIKE 'policy:%'),
    verdict      TEXT NOT NULL CHECK (verdict IN ('accept', 'edit', 'reject')),
    edits        TEXT CHECK ((edits IS NOT NULL) = (verdict = 'edit')),
    reason       TEXT CHECK (reason IS NOT NULL OR verdict <> 'reject'),
    note         TEXT,
    seconds      REAL,
    decided_at   TEXT NOT NULL,
    source_hash  TEXT NOT NULL UNIQUE
);
CREATE INDEX IF NOT EXISTS events_of_item ON events (item_id);
CREATE TRIGGER IF NOT EXISTS events_no_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no UPDATE'); END;
CREATE TRIGGER IF NOT EXISTS events_no_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'review events are append-only: no DELETE'); END;
CREATE TRIGGER IF NOT EXISTS events_no_replace BEFORE INSERT ON events
WHEN EXISTS (
    SELECT 1 FROM events WHERE event_id = NEW.event_id OR source_hash = NEW.source_hash
)
BEGIN SELECT RAISE(IGNORE); END;
"""

_INSERT = f"""
INSERT INTO events ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
ON CONFLICT (source_hash) DO NOTHING
"""

_SELECT = f"""
SELECT event_id, {", ".join(COLUMNS)} FROM events
WHERE ?1 IS NULL OR item_id IN (SELECT value FROM json_each(?1))
ORDER BY event_id
"""


class ReviewStore:
    """Review events of one SQLite file; holds no connection between calls, safe among processes."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        with FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT), self._connection() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)

    def append(self, decisions: Iterable[Decision]) -> tuple[int, int]:
        """Store decisions in one transaction, on disk when it returns: (n_added, n_known).

        A decision known by its source hash is left as it is. Raises sqlite3.IntegrityError, and
        stores none of them, when one breaks the table's rules.
        """
        rows = [_row(decision) for decision in decisions]
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                n_added = sum(connection.execute(_INSERT, row).rowcount for row in rows)
                connection.execute("COMMIT")
            except BaseException:
                connection.execute("ROLLBACK")
                raise
        return n_added, len(rows) - n_added

    def decisions(self, item_ids: Iterable[str] | None = None) -> list[Decision]:
        """Decisions in the order they were stored: of these items, or of all."""
        wanted = None if item_ids is None else json.dumps(list(item_ids))
        with self._connection() as connection:
            rows = connection.execute(_SELECT, (wanted,)).fetchall()
        return [_decision(row) for row in rows]

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            # WAL alone may lose the last commits with the power; a person's work is not redone.
            connection.execute("PRAGMA synchronous = FULL")
            yield connection
        finally:
            connection.close()


def _row(decision: Decision) -> list[object]:
    edits = None if decision.edits is None else canonical_json(decision.edits)
    stored = {"edits": edits, "source_hash": decision.source_hash or source_hash_of(decision)}
    return [stored[name] if name in stored else getattr(decision, name) for name in COLUMNS]


def _decision(row: sqlite3.Row) -> Decision:
    values = dict(row)
    values["edits"] = None if row["edits"] is None else json.loads(row["edits"])
    return Decision(**values)
