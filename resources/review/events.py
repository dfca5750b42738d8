"""The table `events`: review decisions of people in the order they were stored, without duplicates.

Triggers keep the table append-only.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, text

from methods.json_text import from_json
from methods.review.decisions import Decision, Verdict, source_hash_of
from resources.review.statements import rows_for, statement
from resources.review.tables import EVENTS

COLUMNS = [column.name for column in EVENTS.columns if column.name != "event_id"]
_APPEND = text(f"""
INSERT INTO events ({", ".join(COLUMNS)}) VALUES (:{", :".join(COLUMNS)})
ON CONFLICT (source_hash) DO NOTHING RETURNING event_id
""")
_OWN = text("""
SELECT item_id, i.kind, i.title, e.verdict, e.decided_at
FROM in_force AS e JOIN items AS i USING (item_id)
WHERE e.reviewer = :reviewer ORDER BY e.event_id DESC LIMIT :limit OFFSET :offset
""")
_N_DECIDED = text("SELECT count(*) FROM in_force WHERE reviewer = :reviewer")
_HAS_DECIDED = text("SELECT 1 FROM in_force WHERE reviewer = :reviewer LIMIT 1")
_COLUMNS = f"SELECT event_id, {', '.join(COLUMNS)}"
_ROWS = {
    revoked: f"{_COLUMNS} FROM {rows}" for revoked, rows in ((False, "in_force"), (True, "events"))
}
_ALL = {revoked: text(f"{rows} ORDER BY event_id") for revoked, rows in _ROWS.items()}
_OF_ITEMS = {
    revoked: statement(f"{rows} WHERE item_id IN :item_ids", ("item_ids",))
    for revoked, rows in _ROWS.items()
}


class OwnDecision(NamedTuple):
    """A person's decision in a list. `title` is the beginning of the item's first text."""

    item_id: str
    kind: str
    title: str
    verdict: Verdict
    decided_at: str


def append(connection: Connection, decision: Decision) -> int | None:
    """Store a decision.

    Returns its event id; None if a decision with its source hash is stored already.
    """
    return connection.execute(_APPEND, _values(decision)).scalar()


def read(
    connection: Connection,
    item_ids: Iterable[str] | None = None,
    *,
    revoked: bool = False,
) -> list[Decision]:
    """Read decisions in the order in which they were stored.

    Args:
        connection: A connection to the review store.
        item_ids: The items; None reads the decisions on all items.
        revoked: Whether to include revoked decisions.
    """
    if item_ids is None:
        return [_decision(row) for row in connection.execute(_ALL[revoked])]
    rows = rows_for(connection, _OF_ITEMS[revoked], dict.fromkeys(item_ids))
    return [_decision(row) for row in sorted(rows, key=lambda row: row.event_id)]


def has_decided(connection: Connection, reviewer: str) -> bool:
    """Whether the person has decided or skipped anything."""
    return connection.execute(_HAS_DECIDED, {"reviewer": reviewer}).first() is not None


def n_decided(connection: Connection, reviewer: str) -> int:
    """Return the number of a person's decisions and skips that are not revoked."""
    return int(connection.execute(_N_DECIDED, {"reviewer": reviewer}).scalar_one())


def own(
    connection: Connection, reviewer: str, offset: int = 0, limit: int = 50
) -> tuple[list[OwnDecision], int]:
    """Read one page of a person's decisions, the latest first.

    Args:
        connection: A connection to the review store.
        reviewer: The person.
        offset: The number of decisions before the page.
        limit: The maximum number of decisions of the page.

    Returns:
        The decisions that are not revoked, and their number on all pages.
    """
    values = {"reviewer": reviewer, "offset": offset, "limit": limit}
    decisions = [OwnDecision(*row) for row in connection.execute(_OWN, values)]
    return decisions, n_decided(connection, reviewer)


def _values(decision: Decision) -> dict[str, Any]:
    values = {name: getattr(decision, name) for name in COLUMNS}
    # Keys keep their order: scores, for example, are displayed in the order of their dimensions.
    edits = None if decision.edits is None else json.dumps(decision.edits, ensure_ascii=False)
    return values | {"edits": edits, "source_hash": source_of(decision)}


def source_of(decision: Decision) -> str:
    """Return the hash that identifies a decision: its stored hash, or else the hash of its fields."""
    return decision.source_hash or source_hash_of(decision)


def _decision(row: Row[Any]) -> Decision:
    edits = None if row.edits is None else from_json(row.edits)
    return Decision(**(row._asdict() | {"edits": edits}))
