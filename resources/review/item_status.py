"""Item status, stored beside the events so that no page has to read all events.

What belongs here: the tables `standings` (the status of each item) and `bars` (who may not make its
next decision). Both follow from the items, the events, the rules and the assignments alone, and are
updated in the transaction that changes any of these.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from methods.json_text import from_json
from methods.review.assignment import Assignment, place_of, priority
from methods.review.decisions import QueueItem, by_item
from methods.review.process import ReviewState, RuleBook, review_state
from resources.review import assignments, events, gold

_BATCH = 500
_TABLES = ("standings", "bars", "assigned")
_COLUMNS = (
    *("item_id", "kind", "place", "status", "people", "round", "content_hash"),
    *("priority", "unreserved"),
)
_INSERT = f"""
INSERT INTO standings ({", ".join(_COLUMNS)}) VALUES (:{", :".join(_COLUMNS)})
"""


def current_rules(connection: sqlite3.Connection) -> RuleBook:
    """The rules that the stored statuses follow, the same for every process."""
    row = connection.execute("SELECT rules FROM rules").fetchone()
    return RuleBook() if row is None else RuleBook.model_validate_json(row["rules"])


def follow(connection: sqlite3.Connection, rules: RuleBook) -> bool:
    """Whether the stored statuses follow `rules`, written as they are now: a version before may have
    known fewer rules."""
    row = connection.execute("SELECT rules FROM rules").fetchone()
    return row is not None and bool(row["rules"] == rules.model_dump_json())


def set_rules(connection: sqlite3.Connection, rules: RuleBook) -> None:
    """Store `rules` and update the status of every item by them."""
    connection.execute(
        "INSERT INTO rules (only, rules) VALUES (1, ?) "
        "ON CONFLICT (only) DO UPDATE SET rules = excluded.rules",
        [rules.model_dump_json()],
    )
    rebuild(connection)


def rebuild(connection: sqlite3.Connection) -> None:
    """Compute the status of every item again from items, events and rules."""
    for table in _TABLES:
        connection.execute(f"DELETE FROM {table}")
    rows = connection.execute("SELECT item_id FROM items WHERE withdrawn = 0").fetchall()
    update(connection, [row["item_id"] for row in rows])


def update(connection: sqlite3.Connection, item_ids: Sequence[str]) -> None:
    """Compute the status of these items again; a withdrawn or unknown item gets none."""
    rules, made = current_rules(connection), assignments.assignments(connection)
    for start in range(0, len(item_ids), _BATCH):
        wanted = json.dumps(item_ids[start : start + _BATCH])
        for table in _TABLES:
            connection.execute(
                f"DELETE FROM {table} WHERE item_id IN (SELECT value FROM json_each(?))", [wanted]
            )
        queued = connection.execute(
            "SELECT item_id, kind, place, item FROM items JOIN item_contents USING (item_id) "
            "WHERE withdrawn = 0 AND item_id IN (SELECT value FROM json_each(?))",
            [wanted],
        ).fetchall()
        decided = by_item(events.read(connection, [row["item_id"] for row in queued]))
        standings, bars, assigned = [], [], []
        for row in queued:
            item = from_json(row["item"])
            state = review_state(item, decided[row["item_id"]], rules.of(row["kind"]))
            standing, kept = _standing(row, state, rules, made)
            standings.append(standing)
            bars += [(row["item_id"], name) for name in sorted(state.excluded)]
            assigned += kept
        connection.executemany(_INSERT, standings)
        connection.executemany("INSERT INTO bars (item_id, annotator) VALUES (?, ?)", bars)
        assignments.insert(connection, assigned)


def state(connection: sqlite3.Connection, item: QueueItem) -> ReviewState:
    """The state of an item after the stored events; decisions change nothing about a gold item."""
    is_gold = gold.is_gold(connection, item["item_id"])
    decided = [] if is_gold else events.read(connection, [item["item_id"]])
    return review_state(item, decided, current_rules(connection).of(item["kind"]))


def _standing(
    row: sqlite3.Row, state: ReviewState, rules: RuleBook, made: Sequence[Assignment]
) -> tuple[dict[str, Any], list[assignments.Row]]:
    """The status of an item as it is stored, and to whom the item is assigned."""
    status = state.status
    place = place_of(row["item_id"], state.item.get("set_id"))
    standing = {
        **{name: row[name] for name in ("item_id", "kind", "place")},
        "status": status.name,
        "people": status.people_needed,
        "round": status.round,
        "content_hash": state.item["content_hash"],
        "priority": priority(rules.priorities, state, state.item.get("context") or {}, place),
    }
    assigned, n_reserved = assignments.rows_of(made, standing, place, state.excluded)
    return {**standing, "unreserved": status.people_needed - n_reserved}, assigned
