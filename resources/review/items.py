"""Items of the review queue: storage, search with filters and pagination, and counts by status."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, func, select, text, union_all

from methods.json_text import from_json
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import ReviewState, Status, review_state
from resources.review import events, gold, item_status
from resources.review.clock import time_of_locks
from resources.review.statements import statement
from resources.review.tables import EVENTS, ITEM_TEXTS, LOCKS, STANDINGS

_TITLE_LENGTH = 120
MOST_COUNTED = 1_000
MOST_SEARCHED = 200
"""The most characters of a searched text."""
_MOST_WORDS = 10
"""Only this many words of a searched text, the longest, are conditions of the query."""
_POSITIONS_OF_A_KIND = 1 << 32
"""Each kind has this many positions in the queue, more than it ever has items."""
_STORED_ITEMS = statement(
    "SELECT item_id, content_hash, made_of, place, withdrawn FROM items WHERE kind IN :kinds",
    lists=("kinds",),
)
_WITHDRAW = text("UPDATE items SET withdrawn = 1 WHERE item_id = :item_id")
_MOVE = text("UPDATE items SET place = :place, withdrawn = 0 WHERE item_id = :item_id")
_PUT = [
    text(written)
    for written in (
        """
INSERT INTO items (item_id, kind, set_id, content_hash, made_of, place, withdrawn, title)
VALUES (:item_id, :kind, :set_id, :content_hash, :made_of, :place, 0, :title)
ON CONFLICT (item_id) DO UPDATE SET
    kind = excluded.kind, set_id = excluded.set_id, content_hash = excluded.content_hash,
    made_of = excluded.made_of, place = excluded.place, withdrawn = 0, title = excluded.title
""",
        """
INSERT INTO item_contents (item_id, item) VALUES (:item_id, :item)
ON CONFLICT (item_id) DO UPDATE SET item = excluded.item
""",
        """
INSERT INTO item_texts (item_id, text) VALUES (:item_id, :text)
ON CONFLICT (item_id) DO UPDATE SET text = excluded.text
""",
    )
]
_ITEM = text("SELECT item FROM item_contents WHERE item_id = :item_id")
_QUEUED = statement(
    """
SELECT c.item FROM items AS i JOIN item_contents AS c USING (item_id)
WHERE i.withdrawn = 0 AND i.kind IN :kinds ORDER BY i.place
""",
    lists=("kinds",),
)
_PROGRESS = text(
    "SELECT kind, status, count(*) FROM standings GROUP BY kind, status ORDER BY kind, status"
)
_SUMMARIES = statement(
    """
SELECT s.item_id, s.kind, s.status, s.people AS people_needed, i.title
FROM standings AS s JOIN items AS i USING (item_id) WHERE s.item_id IN :item_ids ORDER BY s.place
""",
    lists=("item_ids",),
)
_HOLDERS = statement(
    """
SELECT item_id, annotator FROM locks WHERE item_id IN :item_ids AND expires_at > :now
ORDER BY item_id, annotator
""",
    lists=("item_ids",),
)


class QueueChanges(NamedTuple):
    """The numbers of items that an update of the queue added, changed in content, and withdrew."""

    new: int
    changed: int
    withdrawn: int


@dataclass(frozen=True)
class Filters:
    """The filters of a list of items; None means any.

    Attributes:
        reviewer: A person who decided on the item or has it locked.
        text: Words that all occur in the item's texts, case-insensitive; `MOST_SEARCHED` characters
            at most. Of many words the longest are searched for.
    """

    kind: str | None = None
    status: Status | None = None
    reviewer: str | None = None
    text: str | None = None


ALL = Filters()


@dataclass(frozen=True)
class ItemSummary:
    """An item in a list. `title` is the beginning of its first text. `locked_by` are the people who
    have it locked now."""

    item_id: str
    kind: str
    status: Status
    people_needed: int
    title: str
    locked_by: tuple[str, ...]


class StatusCount(NamedTuple):
    """The number of items of a kind that have a status."""

    kind: str
    status: Status
    n: int


def update_queue(
    connection: Connection, hashed: Sequence[tuple[QueueItem, str]], kinds: Sequence[str]
) -> QueueChanges:
    """Replace the queue of some kinds. Only changed rows are written.

    The queue is ordered by kind, in the order of `KINDS`, even if kinds are updated separately.

    Args:
        connection: The review store.
        hashed: (item, hash of the complete item), in the order of the queue.
        kinds: The kinds to replace.
    """
    rows = connection.execute(_STORED_ITEMS, {"kinds": list(kinds)})
    before = {row.item_id: row for row in rows}
    first = min(map(list(KINDS).index, kinds)) * _POSITIONS_OF_A_KIND
    missing = before.keys() - {item["item_id"] for item, _ in hashed}
    withdrawn = [item_id for item_id in missing if not before[item_id].withdrawn]
    new = changed = 0
    touched, moved, written = list(withdrawn), [], []
    for position, (item, item_hash) in enumerate(hashed, start=first):
        stored = before.get(item["item_id"])
        new += stored is None or bool(stored.withdrawn)
        changed += stored is not None and stored.content_hash != item["content_hash"]
        if stored is None or stored.made_of != item_hash:
            written.append(_row(item, item_hash, position))
        elif (stored.place, stored.withdrawn) != (position, 0):
            moved.append({"item_id": item["item_id"], "place": position})
        else:
            continue
        touched.append(item["item_id"])
    for change, values in (
        (_WITHDRAW, [{"item_id": item_id} for item_id in withdrawn]),
        (_MOVE, moved),
        *((put, written) for put in _PUT),
    ):
        if values:
            connection.execute(change, values)
    item_status.update(connection, touched)
    return QueueChanges(new, changed, len(withdrawn))


def read(connection: Connection, item_id: str) -> QueueItem | None:
    """Read an item as it was last queued, even if it was withdrawn since; None for an unknown id."""
    stored = connection.execute(_ITEM, {"item_id": item_id}).scalar()
    if stored is None:
        return None
    item: QueueItem = from_json(stored)
    return item


def state(connection: Connection, item_id: str) -> ReviewState | None:
    """Return the state of an item after all decisions; None for an unknown id.

    `state.item` has the content for the next decision, for example with the edits of round 1. Decisions
    on a gold item do not count.
    """
    item = read(connection, item_id)
    if item is None:
        return None
    decided = [] if gold.is_gold(connection, item_id) else events.read(connection, [item_id])
    rules = item_status.current_rules(connection)
    return review_state(item, decided, rules.rules_for(item["kind"]))


def visible_decisions(
    connection: Connection, item_id: str, reviewer: str, role: str, *, revoked: bool = False
) -> list[Decision]:
    """Return the decisions on an item that a person may see.

    People see their own decisions, and those of others once round 1 is complete. Admins see all.

    Args:
        connection: The review store.
        item_id: The item.
        reviewer: The person.
        role: Their role.
        revoked: Whether to include revoked decisions.
    """
    decided = events.read(connection, [item_id], revoked=revoked)
    if role == "admin":
        return decided
    reached = state(connection, item_id)
    if reached is not None and not reached.is_blind:
        return decided
    return [decision for decision in decided if decision.reviewer == reviewer]


def queued(connection: Connection, kinds: Sequence[str] = tuple(KINDS)) -> list[QueueItem]:
    """Read the queued items of some kinds in order."""
    stored = connection.execute(_QUEUED, {"kinds": list(kinds)}).scalars()
    return [from_json(item) for item in stored]


def page(
    connection: Connection, filters: Filters = ALL, offset: int = 0, limit: int = 50
) -> tuple[list[ItemSummary], int]:
    """Read one page of the queued items that match the filters.

    Args:
        connection: The review store.
        filters: The filters.
        offset: The number of matching items before the page.
        limit: The maximum number of items of the page.

    Returns:
        The items, and the number of matching items. With a text filter the number is limited
        (`counted_of`), because counting needs complete items.
    """
    time = time_of_locks(connection)
    matching = select(STANDINGS.c.item_id).where(*_conditions(filters, time))
    matching = matching.order_by(STANDINGS.c.place)
    if filters.text or filters.reviewer is not None:
        counted = matching.limit(counted_of(filters, offset, limit))
        item_ids = list(connection.execute(counted).scalars())
        n_items, shown = len(item_ids), item_ids[offset : offset + limit]
    else:
        # The counts by status, which are cheap, give the number of matches.
        n_items = sum(
            status.n
            for status in progress(connection)
            if filters.kind in (None, status.kind) and filters.status in (None, status.status)
        )
        shown = list(connection.execute(matching.limit(limit).offset(offset)).scalars())
    holders: dict[str, list[str]] = defaultdict(list)
    for item_id, annotator in connection.execute(_HOLDERS, {"item_ids": shown, "now": time}):
        holders[item_id].append(annotator)
    rows = connection.execute(_SUMMARIES, {"item_ids": shown})
    summaries = [
        ItemSummary(**row, locked_by=tuple(holders[row["item_id"]])) for row in rows.mappings()
    ]
    return summaries, n_items


def _conditions(filters: Filters, time: str) -> list[ColumnElement[bool]]:
    """Translate filters to conditions on rows of `standings`."""
    standing = STANDINGS.c
    conditions: list[ColumnElement[bool]] = []
    if filters.kind is not None:
        conditions.append(standing.kind == filters.kind)
    if filters.status is not None:
        conditions.append(standing.status == filters.status)
    if filters.reviewer is not None:
        decided = select(EVENTS.c.item_id).where(EVENTS.c.reviewer == filters.reviewer)
        locked = select(LOCKS.c.item_id).where(
            LOCKS.c.annotator == filters.reviewer, LOCKS.c.expires_at > time
        )
        conditions.append(standing.item_id.in_(union_all(decided, locked)))
    if filters.text:
        texts = ITEM_TEXTS.c
        words = {*filters.text.casefold().split()}
        conditions_of_words = [
            # SQLite and PostgreSQL both have `replace`, but no common function to find a text.
            func.replace(texts.text, word, "") != texts.text
            for word in sorted(words, key=lambda word: (-len(word), word))[:_MOST_WORDS]
        ]
        conditions.append(
            select(1).where(texts.item_id == standing.item_id, *conditions_of_words).exists()
        )
    return conditions


def counted_of(filters: Filters, offset: int, limit: int) -> int | None:
    """Compute the limit of counted matches of a list, since counting matching texts is slow.

    Args:
        filters: The filters.
        offset: The number of matching items before the page.
        limit: The maximum number of items of the page.

    Returns:
        The limit; None to count all.
    """
    return max(MOST_COUNTED, offset + limit + 1) if filters.text else None


def progress(connection: Connection) -> list[StatusCount]:
    """Count queued items by kind and status."""
    return [StatusCount(*row) for row in connection.execute(_PROGRESS)]


def _row(item: QueueItem, item_hash: str, position: int) -> dict[str, Any]:
    """Make the stored values of an item."""
    texts = [text for _, text in KINDS[item["kind"]].texts(item["content"])]
    return {
        "item_id": item["item_id"],
        "kind": item["kind"],
        "set_id": item.get("set_id"),
        "content_hash": item["content_hash"],
        "made_of": item_hash,
        "place": position,
        "title": " ".join("".join(texts[:1]).split())[:_TITLE_LENGTH],
        "item": json.dumps(item, ensure_ascii=False),
        "text": "\n".join(texts).casefold(),
    }
