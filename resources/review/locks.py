"""Locks and drafts: which person works on which item until when, and their unfinished work.

What belongs here: the tables `locks` and `drafts`, and the choice of the next item for a person.
Every function runs inside the caller's transaction, so that two people never get the same lock.
"""

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from methods.ids import canonical_json
from methods.json_text import from_json
from methods.review.decisions import Decision, StaleDecision
from methods.review.process import ROUND_OF_ROLE, RuleBook
from resources.review import assignments, events, gold, item_status
from resources.review.file import sql


def now(seconds_later: float = 0.0) -> str:
    """The current time plus `seconds_later`."""
    return stored_time(datetime.now(UTC) + timedelta(seconds=seconds_later))


def stored_time(time: datetime) -> str:
    """A time in UTC as the store keeps it; all such texts have one length."""
    return time.isoformat(timespec="milliseconds")


def today() -> str:
    """The current day in UTC; as text it is smaller than every time of that day."""
    return now()[: len("2026-01-01")]


LOCK_SECONDS = 900
"""How long a lock lasts unless it is renewed."""

_KEPT_SECONDS = 7 * 24 * 3600
"""How long the row of an expired lock is kept: its token can still save and read a draft."""

_HANDED_OUT: dict[int, tuple[str, ...]] = {1: ("to_rework", "round_1"), 2: ("round_2",)}
"""The statuses of which people of a round are given items, in this order. A rejected item is given
only to a person who asks for it."""


class LockLost(RuntimeError):
    """The lock has expired, was given back, or never existed; the message says what to do."""


@dataclass(frozen=True)
class Lock:
    """The right to decide one round of an item until `expires_at` (UTC, ISO 8601).

    `content_hash` is that of the content to show and decide on: `ReviewStore.state(item_id).item`.
    """

    token: str
    item_id: str
    round: int
    content_hash: str
    expires_at: str


def lock_item(
    connection: sqlite3.Connection,
    reviewer: str,
    role: str,
    kind: str | None,
    item_id: str | None,
) -> Lock | None:
    """Lock the item asked for, or the one the person has locked already, or the next; None if there is
    none."""
    connection.execute("DELETE FROM locks WHERE expires_at < ?", [now(-_KEPT_SECONDS)])
    round = ROUND_OF_ROLE[role]
    asked: dict[str, Any] = {
        "reviewer": reviewer,
        "now": now(),
        "round": round,
        "kind": kind,
        "item_id": item_id,
    }
    own = connection.execute(sql("own_lock"), asked).fetchone()
    if own is not None:
        return _renewed(connection, own)
    rules = item_status.current_rules(connection)
    asked["full"] = json.dumps(_kinds_at_quota(connection, reviewer, rules))
    asked["any"] = rules.after_assigned == "any"
    if round == 1 and gold.in_calibration(connection, reviewer, rules):
        found = None
        if item_id is None:
            found = gold.next_gold(connection, asked, rules, always=True)
    elif item_id is not None:
        found = connection.execute(sql("this_item"), asked).fetchone()
    else:
        found = _next(connection, asked, rules)
    return None if found is None else _insert(connection, reviewer, found)


def _next(
    connection: sqlite3.Connection, asked: dict[str, Any], rules: RuleBook
) -> sqlite3.Row | None:
    """The next item: an assigned one if there is any, of the kind asked for first."""
    reviewer, round = asked["reviewer"], asked["round"]
    found: sqlite3.Row | None
    if round == 1:
        found = gold.next_gold(connection, asked, rules, always=False)
        if found is not None:
            return found
    if assignments.has_any(connection, reviewer, round):
        for kind in dict.fromkeys((asked["kind"], None)):
            query = sql("next_assigned")
            found = connection.execute(query, asked | {"kind": kind}).fetchone()
            if found is not None:
                return found
        if rules.after_assigned == "none":
            return None
    for status in _HANDED_OUT[round]:
        found = connection.execute(sql("next_item"), asked | {"status": status}).fetchone()
        if found is not None:
            return found
    return None


def renew(connection: sqlite3.Connection, token: str) -> bool:
    """Extend a lock to LOCK_SECONDS from now; False when it has expired."""
    lock = _unexpired(connection, token)
    if lock is not None:
        _renewed(connection, lock)
    return lock is not None


def unlock(connection: sqlite3.Connection, token: str) -> None:
    """End a lock; the draft stays. An unknown token changes nothing."""
    connection.execute("UPDATE locks SET expires_at = ? WHERE token = ?", [now(), token])


def save_draft(connection: sqlite3.Connection, token: str, draft: dict[str, Any]) -> None:
    """Store a person's unfinished work, also under an expired lock: a draft is in nobody's way.

    Raises LockLost for a token that is unknown or was deleted.
    """
    saved = connection.execute(
        "INSERT OR REPLACE INTO drafts "
        "(item_id, content_hash, round, annotator, draft, saved_at) "
        "SELECT item_id, content_hash, round, annotator, ?, ? FROM locks WHERE token = ?",
        [canonical_json(draft), now(), token],
    )
    if not saved.rowcount:
        raise LockLost("This lock is unknown or too old: open the item again.")


def draft(connection: sqlite3.Connection, token: str) -> dict[str, Any] | None:
    """The draft that this lock's person has saved of this content in this round."""
    row = connection.execute(
        "SELECT draft FROM drafts JOIN locks USING (item_id, content_hash, round, annotator) "
        "WHERE token = ?",
        [token],
    ).fetchone()
    if row is None:
        return None
    saved: dict[str, Any] = from_json(row["draft"])
    return saved


def decide(connection: sqlite3.Connection, token: str, decision: Decision) -> int:
    """Store the decision on a locked item; returns its event id, the same for a repeated call."""
    known = events.known(connection, decision)
    if known is not None:
        return known
    lock = _unexpired(connection, token)
    if lock is None:
        raise LockLost("The lock on this item has expired: open it again, the draft is kept.")
    if (lock["item_id"], lock["round"], lock["annotator"]) != (
        decision.item_id,
        decision.round,
        decision.reviewer,
    ):
        raise LockLost("The lock is for another item, round or person than the decision.")
    current = connection.execute(
        "SELECT status, round, content_hash FROM standings WHERE item_id = ?", [decision.item_id]
    ).fetchone()
    if current is None and gold.is_gold(connection, decision.item_id):
        current = {"status": "gold", "round": 1, "content_hash": lock["content_hash"]}
    if current is None or current["round"] != decision.round:
        raise StaleDecision("This item needs no decision in this round any more.")
    if not decision.content_hash == lock["content_hash"] == current["content_hash"]:
        raise StaleDecision("This item has changed since it was opened: open it again.")
    if current["status"] in ("to_rework", "rejected") and decision.verdict == "accept":
        raise StaleDecision("This item was rejected: edit it, reject it again or skip it.")
    event_id = events.append(connection, decision)
    assert event_id is not None
    item_status.update(connection, [decision.item_id])
    connection.execute("DELETE FROM locks WHERE token = ?", [token])
    connection.execute(
        "DELETE FROM drafts WHERE item_id = ? AND content_hash = ? AND round = ? AND annotator = ?",
        [decision.item_id, decision.content_hash, decision.round, decision.reviewer],
    )
    return event_id


def _kinds_at_quota(
    connection: sqlite3.Connection, reviewer: str, rules: RuleBook
) -> Sequence[str]:
    """Kinds of which the person has decided or locked as many items today as the quota allows."""
    if all(rule.quota is None for rule in (rules.default, *rules.kinds.values())):
        return ()
    rows = connection.execute(
        sql("work_of_day"), {"reviewer": reviewer, "today": today(), "now": now()}
    )
    full = []
    for kind, n_items in rows:
        quota = rules.of(kind).quota
        if quota is not None and n_items >= quota:
            full.append(kind)
    return full


def _insert(connection: sqlite3.Connection, reviewer: str, found: sqlite3.Row) -> Lock:
    lock = Lock(
        secrets.token_urlsafe(18),
        found["item_id"],
        found["round"],
        found["content_hash"],
        now(LOCK_SECONDS),
    )
    # This replaces the person's earlier lock on the item, expired or on another content.
    connection.execute(
        "INSERT OR REPLACE INTO locks "
        "(token, item_id, annotator, round, content_hash, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
        [lock.token, lock.item_id, reviewer, lock.round, lock.content_hash, lock.expires_at],
    )
    return lock


def _unexpired(connection: sqlite3.Connection, token: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT token, item_id, annotator, round, content_hash FROM locks "
        "WHERE token = ? AND expires_at > ?",
        [token, now()],
    ).fetchone()
    return row


def _renewed(connection: sqlite3.Connection, lock: sqlite3.Row) -> Lock:
    expires_at = now(LOCK_SECONDS)
    connection.execute(
        "UPDATE locks SET expires_at = ? WHERE token = ?", [expires_at, lock["token"]]
    )
    return Lock(lock["token"], lock["item_id"], lock["round"], lock["content_hash"], expires_at)
