"""Item status, stored beside the events so that no page has to read all events.

What belongs here: the tables `standings` (the status of each item) and `bars` (who may not make its
next decision). Both follow from the items, the events and the rules alone, and are updated in the
transaction that changes any of these.
"""

import json
import sqlite3
from collections.abc import Sequence

from methods.json_text import from_json
from methods.review.decisions import QueueItem, by_item
from methods.review.process import ReviewState, RuleBook, review_state
from resources.review import events

_BATCH = 500


def current_rules(connection: sqlite3.Connection) -> RuleBook:
    """The rules that the stored statuses follow, the same for every process."""
    row = connection.execute("SELECT rules FROM rules").fetchone()
    return RuleBook() if row is None else RuleBook.model_validate_json(row["rules"])


def set_rules(connection: sqlite3.Connection, rules: RuleBook) -> None:
    """Store `rules` and update the status of every item by them."""
    connection.execute(
        "INSERT OR REPLACE INTO rules (only, rules) VALUES (1, ?)", [rules.model_dump_json()]
    )
    rebuild(connection)


def rebuild(connection: sqlite3.Connection) -> None:
    """Compute the status of every item again from items, events and rules."""
    connection.execute("DELETE FROM standings")
    connection.execute("DELETE FROM bars")
    rows = connection.execute("SELECT item_id FROM items WHERE NOT withdrawn").fetchall()
    update(connection, [row["item_id"] for row in rows])


def update(connection: sqlite3.Connection, item_ids: Sequence[str]) -> None:
    """Compute the status of these items again; a withdrawn or unknown item gets none."""
    rules = current_rules(connection)
    for start in range(0, len(item_ids), _BATCH):
        wanted = json.dumps(item_ids[start : start + _BATCH])
        for table in ("standings", "bars"):
            connection.execute(
                f"DELETE FROM {table} WHERE item_id IN (SELECT value FROM json_each(?))", [wanted]
            )
        queued = connection.execute(
            "SELECT item_id, kind, place, item FROM items JOIN item_contents USING (item_id) "
            "WHERE NOT withdrawn AND item_id IN (SELECT value FROM json_each(?))",
            [wanted],
        ).fetchall()
        decided = by_item(events.read(connection, [row["item_id"] for row in queued]))
        for row in queued:
            item = from_json(row["item"])
            state = review_state(item, decided[row["item_id"]], rules.of(row["kind"]))
            _insert(connection, row, state)


def state(connection: sqlite3.Connection, item: QueueItem) -> ReviewState:
    """The state of an item after the stored events."""
    decided = events.read(connection, [item["item_id"]])
    return review_state(item, decided, current_rules(connection).of(item["kind"]))


def _insert(connection: sqlite3.Connection, row: sqlite3.Row, state: ReviewState) -> None:
    connection.execute(
        "INSERT INTO standings "
        "(item_id, kind, place, status, people, round, content_hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *(row[name] for name in ("item_id", "kind", "place")),
            state.status.name,
            state.status.people_needed,
            state.status.round,
            state.item["content_hash"],
        ),
    )
    connection.executemany(
        "INSERT INTO bars (item_id, annotator) VALUES (?, ?)",
        [(row["item_id"], name) for name in sorted(state.excluded)],
    )
