"""Items: what was offered for review, found again by what it is and how it stands.

What belongs here: the tables `items` and `item_texts`, pages of them and counts over them.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.ids import content_id
from methods.review.decisions import QueueItem
from methods.review.kinds import KINDS
from methods.review.process import Status
from resources.review import standings
from resources.review.file import sql
from resources.review.times import now

_TITLE_LENGTH = 120
_PLACES_OF_A_KIND = 1 << 32
"""More than items of one kind are ever offered."""


class Offered(NamedTuple):
    """What an offer changed: how many items are new, have another content, are withdrawn."""

    new: int
    changed: int
    withdrawn: int


@dataclass(frozen=True)
class Filters:
    """Which items a page shows; None for all. `status` is one of `Stage.status`.

    `annotator` is who decided on the item or works on it; `text` stands somewhere in its texts, in
    any case.
    """

    kind: str | None = None
    status: Status | None = None
    annotator: str | None = None
    text: str | None = None
    bucket: str | None = None


@dataclass(frozen=True)
class Summary:
    """An item on a page: `title` is the head of its first text, `people` how many it still needs.

    `held_by` are those who work on it now.
    """

    item_id: str
    kind: str
    bucket: str | None
    set_id: str | None
    status: Status
    people: int
    title: str
    held_by: tuple[str, ...]


class Progress(NamedTuple):
    """How many items of a kind stand at a status."""

    kind: str
    status: Status
    n: int


def offer(
    connection: sqlite3.Connection, items: Sequence[QueueItem], kinds: Sequence[str]
) -> Offered:
    """Make `items` the queue of these kinds, in their order; only what has changed is written.

    Kinds that are offered apart from each other follow each other in the order of `KINDS`.
    """
    rows = connection.execute(sql("known_items"), {"kinds": json.dumps(list(kinds))})
    before = {row["item_id"]: row for row in rows}
    first = min(map(list(KINDS).index, kinds)) * _PLACES_OF_A_KIND
    gone = before.keys() - {item["item_id"] for item in items}
    withdrawn = [item_id for item_id in gone if not before[item_id]["withdrawn"]]
    connection.executemany(
        "UPDATE items SET withdrawn = 1 WHERE item_id = ?", [[item_id] for item_id in withdrawn]
    )
    new = changed = 0
    touched = list(withdrawn)
    for place, item in enumerate(items, start=first):
        known, made_of = before.get(item["item_id"]), content_id(item)
        new += known is None or bool(known["withdrawn"])
        changed += known is not None and known["content_hash"] != item["content_hash"]
        if known is None or known["made_of"] != made_of:
            _put(connection, item, made_of, place)
        elif (known["place"], known["withdrawn"]) != (place, 0):
            connection.execute(
                "UPDATE items SET place = ?, withdrawn = 0 WHERE item_id = ?",
                [place, item["item_id"]],
            )
        else:
            continue
        touched.append(item["item_id"])
    standings.make(connection, touched)
    return Offered(new, changed, len(withdrawn))


def read(connection: sqlite3.Connection, item_id: str) -> QueueItem | None:
    """The item as it was last offered, withdrawn or not; None when it never was."""
    found = connection.execute(
        "SELECT item FROM item_contents WHERE item_id = ?", [item_id]
    ).fetchone()
    if found is None:
        return None
    item: QueueItem = json.loads(found["item"])
    return item


def offered(connection: sqlite3.Connection, kinds: Sequence[str]) -> list[QueueItem]:
    """Items of these kinds that are not withdrawn, in their order."""
    rows = connection.execute(sql("offered_items"), {"kinds": json.dumps(list(kinds))})
    return [json.loads(row["item"]) for row in rows]


def page(
    connection: sqlite3.Connection, filters: Filters, offset: int, limit: int
) -> tuple[list[Summary], int]:
    """Items `offset` to `offset + limit` of those that pass the filters, and how many pass."""
    rows = connection.execute(
        sql("page"),
        vars(filters)
        | {
            "text": filters.text.casefold() if filters.text else None,
            "offset": offset,
            "limit": limit,
            "now": now(),
        },
    ).fetchall()
    return [_summary(row) for row in rows if row["item_id"] is not None], int(rows[0]["n_items"])


def progress(connection: sqlite3.Connection) -> list[Progress]:
    """Counts by kind and status."""
    rows = connection.execute(
        "SELECT kind, status, count(*) FROM standings GROUP BY kind, status ORDER BY kind, status"
    )
    return [Progress(*row) for row in rows]


def _put(connection: sqlite3.Connection, item: QueueItem, made_of: str, place: int) -> None:
    texts = [text for _, text in KINDS[item["kind"]].texts(item["content"])]
    title = " ".join(texts[0].split())[:_TITLE_LENGTH] if texts else ""
    connection.execute(
        sql("put_item"),
        {
            "item_id": item["item_id"],
            "kind": item["kind"],
            "bucket": item.get("bucket"),
            "set_id": item.get("set_id"),
            "content_hash": item["content_hash"],
            "made_of": made_of,
            "place": place,
            "title": title,
        },
    )
    for table, column, value in [
        ("item_contents", "item", json.dumps(item, ensure_ascii=False)),
        ("item_texts", "text", "\n".join(texts).casefold()),
    ]:
        connection.execute(
            f"INSERT OR REPLACE INTO {table} (item_id, {column}) VALUES (?, ?)",
            [item["item_id"], value],
        )


def _summary(row: sqlite3.Row) -> Summary:
    names = Summary.__dataclass_fields__.keys() - {"held_by"}
    return Summary(**{name: row[name] for name in names}, held_by=tuple(json.loads(row["held_by"])))
