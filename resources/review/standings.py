"""Standings: what each item awaits, kept beside the events so that no page has to fold them.

What belongs here: the tables `standings` and `bars`, which follow from the items, the events and the
rules alone, and are made anew from them in the transaction that changes any of these.
"""

import json
import sqlite3
from collections.abc import Sequence

from methods.review.decisions import QueueItem, by_item
from methods.review.process import Course, RuleBook, course_of
from resources.review import events

_AT_ONCE = 500


def rules_of(connection: sqlite3.Connection) -> RuleBook:
    """The rules that the standings follow, the same for every process."""
    found = connection.execute("SELECT rules FROM rules").fetchone()
    return RuleBook() if found is None else RuleBook.model_validate_json(found["rules"])


def follow(connection: sqlite3.Connection, rules: RuleBook) -> None:
    """Make every standing by `rules` from now on."""
    connection.execute(
        "INSERT OR REPLACE INTO rules (only, rules) VALUES (1, ?)", [rules.model_dump_json()]
    )
    rebuild(connection)


def rebuild(connection: sqlite3.Connection) -> None:
    """Make all standings anew from items, events and rules."""
    connection.execute("DELETE FROM standings")
    connection.execute("DELETE FROM bars")
    rows = connection.execute("SELECT item_id FROM items WHERE NOT withdrawn").fetchall()
    make(connection, [row["item_id"] for row in rows])


def make(connection: sqlite3.Connection, item_ids: Sequence[str]) -> None:
    """Make the standings of these items anew; one that was withdrawn, or never offered, has none."""
    rules = rules_of(connection)
    for start in range(0, len(item_ids), _AT_ONCE):
        wanted = json.dumps(item_ids[start : start + _AT_ONCE])
        for table in ("standings", "bars"):
            connection.execute(
                f"DELETE FROM {table} WHERE item_id IN (SELECT value FROM json_each(?))", [wanted]
            )
        offered = connection.execute(
            "SELECT item_id, kind, bucket, place, item FROM items JOIN item_contents USING (item_id) "
            "WHERE NOT withdrawn AND item_id IN (SELECT value FROM json_each(?))",
            [wanted],
        ).fetchall()
        decided = by_item(events.read(connection, [row["item_id"] for row in offered]))
        for row in offered:
            course = course_of(
                json.loads(row["item"]), decided[row["item_id"]], rules.of(row["kind"])
            )
            _insert(connection, row, course)


def course(connection: sqlite3.Connection, item: QueueItem) -> Course:
    """Where the events have brought an item."""
    decided = events.read(connection, [item["item_id"]])
    return course_of(item, decided, rules_of(connection).of(item["kind"]))


def _insert(connection: sqlite3.Connection, row: sqlite3.Row, course: Course) -> None:
    connection.execute(
        "INSERT INTO standings "
        "(item_id, kind, bucket, place, status, people, round, content_hash) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(row[name] for name in ("item_id", "kind", "bucket", "place")),
            course.stage.status,
            course.stage.people,
            course.stage.round,
            course.item["content_hash"],
        ),
    )
    connection.executemany(
        "INSERT INTO bars (item_id, annotator) VALUES (?, ?)",
        [(row["item_id"], name) for name in sorted(course.barred)],
    )
