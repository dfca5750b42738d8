"""Events: the decisions of people, in the order they were stored, each once.

What belongs here: reading and appending rows of the table `events`. Triggers keep it append-only. What
takes a decision back is `revocations.py`.
"""

import json
import sqlite3
from collections.abc import Iterable

from methods.json_text import from_json
from methods.review.decisions import Decision, source_hash_of

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
_INSERT = f"""
INSERT INTO events ({", ".join(COLUMNS)}) VALUES ({", ".join("?" * len(COLUMNS))})
ON CONFLICT (source_hash) DO NOTHING RETURNING event_id
"""


def append(connection: sqlite3.Connection, decision: Decision) -> int | None:
    """Append a decision; returns its event id, None when its source hash is stored already."""
    stored = {"edits": _edits(decision), "source_hash": _source(decision)}
    row = [stored[name] if name in stored else getattr(decision, name) for name in COLUMNS]
    added = connection.execute(_INSERT, row).fetchone()
    return None if added is None else int(added[0])


def known(connection: sqlite3.Connection, decision: Decision) -> int | None:
    """The event id of a decision that is stored already, None for a new one."""
    query = "SELECT event_id FROM events WHERE source_hash = ?"
    row = connection.execute(query, [_source(decision)]).fetchone()
    return None if row is None else int(row[0])


def same(connection: sqlite3.Connection, decision: Decision) -> int | None:
    """The event id of a stored decision that says the same at the same time, whatever its person is
    called now; None for a new one."""
    row = connection.execute(
        "SELECT event_id FROM events WHERE item_id = ? AND content_hash = ? AND round = ? "
        "AND verdict = ? AND edits IS ? AND decided_at = ?",
        [
            *(decision.item_id, decision.content_hash, decision.round),
            *(decision.verdict, _edits(decision), decision.decided_at),
        ],
    ).fetchone()
    return None if row is None else int(row[0])


def read(
    connection: sqlite3.Connection,
    item_ids: Iterable[str] | None = None,
    *,
    revoked: bool = False,
) -> list[Decision]:
    """Decisions in the order they were stored: of these items, or of all.

    Those that were taken back are left out, unless `revoked`.
    """
    wanted = None if item_ids is None else json.dumps(list(item_ids))
    of_items = "" if wanted is None else "WHERE item_id IN (SELECT value FROM json_each(:wanted))"
    rows = connection.execute(
        f"SELECT event_id, {', '.join(COLUMNS)} FROM {'events' if revoked else 'in_force'} "
        f"{of_items} ORDER BY event_id",
        {"wanted": wanted},
    )
    return [_decision(row) for row in rows]


def _edits(decision: Decision) -> str | None:
    # Keys keep their order: scores, for example, are read in the order of their dimensions.
    return None if decision.edits is None else json.dumps(decision.edits, ensure_ascii=False)


def _source(decision: Decision) -> str:
    return decision.source_hash or source_hash_of(decision)


def _decision(row: sqlite3.Row) -> Decision:
    values = dict(row)
    values["edits"] = None if row["edits"] is None else from_json(row["edits"])
    return Decision(**values)
