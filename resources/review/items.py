"""Items of the review queue: stored, listed page by page, and counted by status.

What belongs here: the tables `items`, `item_contents` and `item_texts`.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.json_text import from_json
from methods.review.decisions import QueueItem
from methods.review.kinds import KINDS
from methods.review.process import Status
from resources.review import item_status
from resources.review.clock import now
from resources.review.file import sql

_TITLE_LENGTH = 120
MOST_COUNTED, _ALL = 1_000, 10**12
_POSITIONS_OF_A_KIND = 1 << 32
"""More than the items of one kind that a queue ever has."""


class QueueChanges(NamedTuple):
    """How many items an update of the queue added, changed in content, and withdrew."""

    new: int
    changed: int
    withdrawn: int


@dataclass(frozen=True)
class Filters:
    """Which items a page shows; None means any.

    `reviewer` decided on the item or has it locked; every word of `text` occurs in its texts, in any
    case.
    """

    kind: str | None = None
    status: Status | None = None
    reviewer: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class ItemSummary:
    """An item on a page. `title` is the beginning of its first text; `locked_by` are the people who
    have it locked now."""

    item_id: str
    kind: str
    set_id: str | None
    status: Status
    people_needed: int
    title: str
    locked_by: tuple[str, ...]


class Progress(NamedTuple):
    """How many items of a kind have a status."""

    kind: str
    status: Status
    n: int


def update_queue(
    connection: sqlite3.Connection, hashed: Sequence[tuple[QueueItem, str]], kinds: Sequence[str]
) -> QueueChanges:
    """Make items the queue of these kinds, in their order; only rows that change are written.

    Each is given with the hash of the whole of it. The parts of the queue that are updated separately
    follow each other in the order of `KINDS`.
    """
    rows = connection.execute(sql("known_items"), {"kinds": json.dumps(list(kinds))})
    before = {row["item_id"]: row for row in rows}
    first = min(map(list(KINDS).index, kinds)) * _POSITIONS_OF_A_KIND
    missing = before.keys() - {item["item_id"] for item, _ in hashed}
    withdrawn = [item_id for item_id in missing if not before[item_id]["withdrawn"]]
    connection.executemany(
        "UPDATE items SET withdrawn = 1 WHERE item_id = ?", [[item_id] for item_id in withdrawn]
    )
    new = changed = 0
    touched, moved, written = list(withdrawn), [], []
    for position, (item, item_hash) in enumerate(hashed, start=first):
        known = before.get(item["item_id"])
        new += known is None or bool(known["withdrawn"])
        changed += known is not None and known["content_hash"] != item["content_hash"]
        if known is None or known["made_of"] != item_hash:
            written.append((item, item_hash, position))
        elif (known["place"], known["withdrawn"]) != (position, 0):
            moved.append((position, item["item_id"]))
        else:
            continue
        touched.append(item["item_id"])
    connection.executemany("UPDATE items SET place = ?, withdrawn = 0 WHERE item_id = ?", moved)
    _put(connection, written)
    item_status.update(connection, touched)
    return QueueChanges(new, changed, len(withdrawn))


def read(connection: sqlite3.Connection, item_id: str) -> QueueItem | None:
    """The item as it was last queued, withdrawn or not; None for an unknown one."""
    row = connection.execute(
        "SELECT item FROM item_contents WHERE item_id = ?", [item_id]
    ).fetchone()
    if row is None:
        return None
    item: QueueItem = from_json(row["item"])
    return item


def queued(connection: sqlite3.Connection, kinds: Sequence[str]) -> list[QueueItem]:
    """The items of these kinds in the queue, in their order."""
    rows = connection.execute(sql("queued_items"), {"kinds": json.dumps(list(kinds))})
    return [from_json(row["item"]) for row in rows]


def page(
    connection: sqlite3.Connection, filters: Filters, offset: int, limit: int
) -> tuple[list[ItemSummary], int]:
    """Items `offset` to `offset + limit` of those that match the filters, and how many match.

    Of a text as many are counted as `counted_of` says: every further one costs reading whole items.
    """
    # Without these the statuses that are counted anyway say how many match.
    known = not filters.text and filters.reviewer is None
    rows = connection.execute(
        sql("page"),
        vars(filters)
        | {
            "text": json.dumps(filters.text.casefold().split()) if filters.text else None,
            "offset": offset,
            "limit": limit,
            "counted": offset + limit if known else counted_of(filters, offset, limit),
            "now": now(connection),
        },
    ).fetchall()
    n_items = (
        sum(
            each.n
            for each in progress(connection)
            if filters.kind in (None, each.kind) and filters.status in (None, each.status)
        )
        if known
        else int(rows[0]["n_items"])
    )
    return [_summary(row) for row in rows if row["item_id"] is not None], n_items


def counted_of(filters: Filters, offset: int, limit: int) -> int:
    """The most matches that a page counts: all, or with a text those up to the next page or so."""
    return max(MOST_COUNTED, offset + limit + 1) if filters.text else _ALL


def progress(connection: sqlite3.Connection) -> list[Progress]:
    """Counts by kind and status."""
    rows = connection.execute(
        "SELECT kind, status, count(*) FROM standings GROUP BY kind, status ORDER BY kind, status"
    )
    return [Progress(*row) for row in rows]


def _put(connection: sqlite3.Connection, written: Sequence[tuple[QueueItem, str, int]]) -> None:
    """Store items, each with the hash of the whole of it and its place."""
    connection.executemany(
        sql("put_item"),
        (
            {
                "item_id": item["item_id"],
                "kind": item["kind"],
                "set_id": item.get("set_id"),
                "content_hash": item["content_hash"],
                "made_of": item_hash,
                "place": position,
                "title": " ".join("".join(_texts(item)[:1]).split())[:_TITLE_LENGTH],
            }
            for item, item_hash, position in written
        ),
    )
    for table, column, value in [
        ("item_contents", "item", lambda item: json.dumps(item, ensure_ascii=False)),
        ("item_texts", "text", lambda item: "\n".join(_texts(item)).casefold()),
    ]:
        connection.executemany(
            f"INSERT INTO {table} (item_id, {column}) VALUES (?, ?) "
            f"ON CONFLICT (item_id) DO UPDATE SET {column} = excluded.{column}",
            ((item["item_id"], value(item)) for item, _, _ in written),
        )


def _texts(item: QueueItem) -> list[str]:
    return [text for _, text in KINDS[item["kind"]].texts(item["content"])]


def _summary(row: sqlite3.Row) -> ItemSummary:
    names = ItemSummary.__dataclass_fields__.keys() - {"locked_by"}
    return ItemSummary(
        **{name: row[name] for name in names}, locked_by=tuple(from_json(row["locked_by"]))
    )
