"""Claims: who works on which item until when, and what they have begun.

What belongs here: the tables `locks` and `drafts`, and the choice of the next item for a person.
Every function runs inside the caller's transaction, so that two people never get the same place.
"""

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from methods.ids import canonical_json
from methods.review.decisions import Decision, StaleDecision
from methods.review.process import ROUND_OF_ROLE, RuleBook
from resources.review import events, standings
from resources.review.file import sql
from resources.review.times import now, today

LOCK_SECONDS = 900
"""How long a claim holds an item without being renewed."""

_KEPT_SECONDS = 7 * 24 * 3600
"""How long an expired lock's token still names its drafts."""

_TURNS: dict[int, tuple[str, ...]] = {1: ("to_rework", "round_1"), 2: ("round_2",)}
"""What people of a round are given, first to last. What is rejected they open if they want to."""


class LockLost(RuntimeError):
    """The claim has expired, was let go, or never was; the message says what to do."""


@dataclass(frozen=True)
class Claim:
    """The right to decide one round of an item until `expires_at` (UTC, ISO 8601).

    `content_hash` is that of the content to show and decide on: `ReviewStore.course(item_id).item`.
    """

    token: str
    item_id: str
    round: int
    content_hash: str
    expires_at: str


def claim(
    connection: sqlite3.Connection,
    annotator: str,
    role: str,
    kind: str | None,
    item_id: str | None,
) -> Claim | None:
    """The item asked for, or the person's own unfinished one, or the next; None when there is none."""
    connection.execute("DELETE FROM locks WHERE expires_at < ?", [now(-_KEPT_SECONDS)])
    round = ROUND_OF_ROLE[role]
    asked = {
        "annotator": annotator,
        "now": now(),
        "round": round,
        "kind": kind,
        "item_id": item_id,
    }
    held = connection.execute(sql("own_claim"), asked).fetchone()
    if held is not None:
        return _renewed(connection, held)
    full = _kinds_without_quota(connection, annotator, standings.rules_of(connection))
    for status in _TURNS[round] if item_id is None else (None,):
        found = connection.execute(
            sql("next_item" if item_id is None else "this_item"),
            asked | {"status": status, "full": json.dumps(full)},
        ).fetchone()
        if found is not None:
            return _lock(connection, annotator, found)
    return None


def renew(connection: sqlite3.Connection, token: str) -> bool:
    """Hold a claim that has not expired for its whole time again; False when it holds nothing."""
    held = _live(connection, token)
    if held is not None:
        _renewed(connection, held)
    return held is not None


def let_go(connection: sqlite3.Connection, token: str) -> None:
    """Give the item back; the draft stays. A token that holds nothing changes nothing."""
    connection.execute("UPDATE locks SET expires_at = ? WHERE token = ?", [now(), token])


def save_draft(connection: sqlite3.Connection, token: str, draft: dict[str, Any]) -> None:
    """Keep what was begun. An expired claim may still do so: it is its own person's, and in nobody's
    way. Raises LockLost for a token that never was or is long gone."""
    named = connection.execute(
        "INSERT OR REPLACE INTO drafts "
        "(item_id, content_hash, round, annotator, draft, saved_at) "
        "SELECT item_id, content_hash, round, annotator, ?, ? FROM locks WHERE token = ?",
        [canonical_json(draft), now(), token],
    )
    if not named.rowcount:
        raise LockLost("This claim is not known any more: open the item again.")


def draft(connection: sqlite3.Connection, token: str) -> dict[str, Any] | None:
    """What this claim's person has begun on this content in this round."""
    found = connection.execute(
        "SELECT draft FROM drafts JOIN locks USING (item_id, content_hash, round, annotator) "
        "WHERE token = ?",
        [token],
    ).fetchone()
    if found is None:
        return None
    begun: dict[str, Any] = json.loads(found["draft"])
    return begun


def decide(connection: sqlite3.Connection, token: str, decision: Decision) -> int:
    """Store the decision that a claim was made for; its event id. What is decided twice counts once."""
    again = events.known(connection, decision)
    if again is not None:
        return again
    held = _live(connection, token)
    if held is None:
        raise LockLost("The claim on this item has expired: open it again, the draft is kept.")
    if (held["item_id"], held["round"], held["annotator"]) != (
        decision.item_id,
        decision.round,
        decision.reviewer,
    ):
        raise LockLost("The claim is on another item, round or person than the decision.")
    awaited = connection.execute(
        "SELECT status, round, content_hash FROM standings WHERE item_id = ?", [decision.item_id]
    ).fetchone()
    if awaited is None or awaited["round"] != decision.round:
        raise StaleDecision("This item awaits no decision of this round any more.")
    if not decision.content_hash == held["content_hash"] == awaited["content_hash"]:
        raise StaleDecision("This item has changed since it was opened: open it again.")
    if awaited["status"] in ("to_rework", "rejected") and decision.verdict == "accept":
        raise StaleDecision("This item was rejected: mend it, reject it again or skip it.")
    event_id = events.append(connection, decision)
    assert event_id is not None
    standings.make(connection, [decision.item_id])
    connection.execute("DELETE FROM locks WHERE token = ?", [token])
    connection.execute(
        "DELETE FROM drafts WHERE item_id = ? AND content_hash = ? AND round = ? AND annotator = ?",
        [decision.item_id, decision.content_hash, decision.round, decision.reviewer],
    )
    return event_id


def _kinds_without_quota(
    connection: sqlite3.Connection, annotator: str, rules: RuleBook
) -> Sequence[str]:
    """Kinds of which the person has decided, or holds, as many as one day may have."""
    if all(each.quota is None for each in (rules.default, *rules.kinds.values())):
        return ()
    rows = connection.execute(
        sql("work_of_day"), {"annotator": annotator, "today": today(), "now": now()}
    )
    full = []
    for kind, n_items in rows:
        quota = rules.of(kind).quota
        if quota is not None and n_items >= quota:
            full.append(kind)
    return full


def _lock(connection: sqlite3.Connection, annotator: str, found: sqlite3.Row) -> Claim:
    given = Claim(
        secrets.token_urlsafe(18),
        found["item_id"],
        found["round"],
        found["content_hash"],
        now(LOCK_SECONDS),
    )
    # The person's own earlier lock on the item, expired or on another content, makes room.
    connection.execute(
        "INSERT OR REPLACE INTO locks "
        "(token, item_id, annotator, round, content_hash, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
        [
            given.token,
            given.item_id,
            annotator,
            given.round,
            given.content_hash,
            given.expires_at,
        ],
    )
    return given


def _live(connection: sqlite3.Connection, token: str) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT token, item_id, annotator, round, content_hash FROM locks "
        "WHERE token = ? AND expires_at > ?",
        [token, now()],
    ).fetchone()
    return row


def _renewed(connection: sqlite3.Connection, held: sqlite3.Row) -> Claim:
    expires_at = now(LOCK_SECONDS)
    connection.execute(
        "UPDATE locks SET expires_at = ? WHERE token = ?", [expires_at, held["token"]]
    )
    return Claim(held["token"], held["item_id"], held["round"], held["content_hash"], expires_at)
