"""Locks and drafts: which person works on which item until when, and their unfinished work.

What belongs here: the tables `locks` and `drafts`, and the choice of the next item for a person.
Every function runs inside the caller's transaction, so that two people never get the same lock.
"""

import json
import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from methods.ids import canonical_json, content_id
from methods.json_text import from_json
from methods.review.decisions import Decision, StaleDecision
from methods.review.process import ROUND_OF_ROLE, RuleBook
from resources.review import assignments, events, gold, item_status
from resources.review.clock import anchor, now, today
from resources.review.file import sql

LOCK_SECONDS = 900
"""How long a lock lasts unless it is renewed."""

_KEPT_SECONDS = 7 * 24 * 3600
"""How long the row of an expired lock is kept: its token can still save and read a draft."""

_HANDED_OUT: dict[int, tuple[str, ...]] = {1: ("to_rework", "round_1"), 2: ("round_2",)}
"""The statuses of which people of a round are given items, in this order. A rejected item is given
only to a person who asks for it."""


ANY_DRAFT = "any"
"""The version that stands for whatever draft is stored."""

_CLAIMED = "token = ? AND item_id = ? AND annotator = ?"
AGAIN = (
    "ON CONFLICT (item_id, content_hash, round, annotator) "
    "DO UPDATE SET draft = excluded.draft, saved_at = excluded.saved_at"
)
"""What storing a draft does to an earlier one of the person on the same content and round."""


class LockLost(RuntimeError):
    """The lock has expired, was given back, or never existed; the message says what to do."""


class OtherDraft(RuntimeError):
    """The same person has saved another draft meanwhile, such as in another tab."""


class Claim(NamedTuple):
    """Who says that they have which lock on which item. Nothing is done unless all three are right."""

    token: str
    item_id: str
    annotator: str


@dataclass(frozen=True)
class Lock:
    """The right to decide one round of an item until `expires_at` (UTC, ISO 8601).

    `content_hash` is that of the content to show and decide on: `ReviewStore.state(item_id).item`.
    """

    token: str
    item_id: str
    annotator: str
    round: int
    content_hash: str
    expires_at: str

    @property
    def claim(self) -> Claim:
        """What its person shows with every act on the item."""
        return Claim(self.token, self.item_id, self.annotator)


def lock_item(
    connection: sqlite3.Connection,
    reviewer: str,
    role: str,
    kind: str | None,
    item_id: str | None,
) -> Lock | None:
    """Lock the item asked for, or the one the person has locked already, or the next; None if there is
    none."""
    anchor(connection, LOCK_SECONDS)
    connection.execute("DELETE FROM locks WHERE expires_at < ?", [now(connection, -_KEPT_SECONDS)])
    round = ROUND_OF_ROLE[role]
    asked: dict[str, Any] = {
        "reviewer": reviewer,
        "now": now(connection),
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
    found: sqlite3.Row | None
    if item_id is not None and (again := gold.taken_back(connection, asked)) is not None:
        found = again
    elif round == 1 and gold.in_calibration(connection, reviewer, rules):
        found = None
        if item_id is None:
            found = gold.next_gold(connection, asked, rules, always=True)
    elif item_id is not None:
        found = connection.execute(sql("this_item"), asked).fetchone()
    else:
        found = _next(connection, asked, rules)
    return None if found is None else _insert(connection, reviewer, found)


WhyNot = Literal[
    "decided",
    "skipped",
    "done",
    "annotators",
    "expert",
    "calibration",
    "quota",
    "assigned",
    "locked",
]
"""Why a person gets no lock on an item: they have decided or skipped it; it needs no decision; it needs
one of annotators or of an expert; they are in calibration or at their quota; it is kept for others; as
many others as it needs have locked it."""


def why_not(connection: sqlite3.Connection, reviewer: str, role: str, item_id: str) -> WhyNot:
    """Why `lock_item` gave the person no lock on this item."""
    round = ROUND_OF_ROLE[role]
    rules = item_status.current_rules(connection)
    standing = connection.execute(
        "SELECT kind, status, round, unreserved FROM standings WHERE item_id = ?", [item_id]
    ).fetchone()
    own = [each for each in events.read(connection, [item_id]) if each.reviewer == reviewer]
    barred = connection.execute(
        "SELECT 1 FROM bars WHERE item_id = ? AND annotator = ?", [item_id, reviewer]
    ).fetchone()
    if own and (barred or standing is None):
        return "skipped" if own[-1].verdict == "skip" else "decided"
    if standing is None or standing["round"] is None:
        return "done"
    if standing["round"] != round:
        return "annotators" if standing["round"] == 1 else "expert"
    if round == 1 and gold.in_calibration(connection, reviewer, rules):
        return "calibration"
    if standing["kind"] in _kinds_at_quota(connection, reviewer, rules):
        return "quota"
    kept = rules.after_assigned != "any" and standing["status"] != "rejected"
    if kept and standing["unreserved"] <= 0:
        mine = connection.execute(
            "SELECT 1 FROM assigned "
            "WHERE item_id = ? AND annotator = ? AND round = ? AND progress = 'open'",
            [item_id, reviewer, round],
        ).fetchone()
        if mine is None:
            return "assigned"
    return "locked"


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


def renew(connection: sqlite3.Connection, claim: Claim) -> bool:
    """Extend a lock to LOCK_SECONDS from now; False when it has expired."""
    lock = _unexpired(connection, claim)
    if lock is not None:
        _renewed(connection, lock)
    return lock is not None


def unlock(connection: sqlite3.Connection, claim: Claim) -> None:
    """End a lock; the draft stays. An unknown lock, or one of somebody else, changes nothing."""
    connection.execute(
        f"UPDATE locks SET expires_at = ? WHERE {_CLAIMED}", [now(connection), *claim]
    )


def save_draft(
    connection: sqlite3.Connection, claim: Claim, draft: dict[str, Any], based_on: str | None
) -> str:
    """Store a person's unfinished work, also under an expired lock: a draft is in nobody's way.

    Returns its version. Raises LockLost for a lock that is unknown, was deleted or is somebody else's,
    OtherDraft unless `based_on` is ANY_DRAFT or the version of the stored draft.
    """
    stored = _stored_draft(connection, claim)
    text = canonical_json(draft)
    if stored != text:
        _require_version(stored, based_on)
    saved = connection.execute(
        "INSERT INTO drafts (item_id, content_hash, round, annotator, draft, saved_at) "
        f"SELECT item_id, content_hash, round, annotator, ?, ? FROM locks WHERE {_CLAIMED} "
        f"{AGAIN}",
        [text, now(connection), *claim],
    )
    if not saved.rowcount:
        raise LockLost("This lock is unknown or too old: open the item again.")
    return content_id(text)


def draft(connection: sqlite3.Connection, claim: Claim) -> tuple[dict[str, Any] | None, str | None]:
    """The draft that this person has saved of the locked content in this round, and its version."""
    stored = _stored_draft(connection, claim)
    if stored is None:
        return None, None
    return from_json(stored), content_id(stored)


def _stored_draft(connection: sqlite3.Connection, claim: Claim) -> str | None:
    row = connection.execute(
        "SELECT draft FROM drafts JOIN locks USING (item_id, content_hash, round, annotator) "
        f"WHERE {_CLAIMED}",
        claim,
    ).fetchone()
    return None if row is None else str(row["draft"])


def _require_version(stored: str | None, based_on: str | None) -> None:
    """Raise OtherDraft when the stored draft is another than the one that the person has seen."""
    if based_on != ANY_DRAFT and based_on != (None if stored is None else content_id(stored)):
        raise OtherDraft("Another draft was saved meanwhile: load it, or keep this one.")


def decide(
    connection: sqlite3.Connection, token: str, decision: Decision, based_on: str | None
) -> int:
    """Store the decision on a locked item; returns its event id, the same for a repeated call."""
    known = events.known(connection, decision)
    if known is not None:
        return known
    claim = Claim(token, decision.item_id, decision.reviewer)
    lock = _unexpired(connection, claim)
    if lock is None:
        raise LockLost(
            "The lock has expired, or is another person's or on another item: open the item again, the "
            "draft is kept."
        )
    if lock["round"] != decision.round:
        raise LockLost("The lock is for another round than the decision.")
    _require_version(_stored_draft(connection, claim), based_on)
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
        sql("work_of_day"),
        {"reviewer": reviewer, "today": today(connection), "now": now(connection)},
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
        reviewer,
        found["round"],
        found["content_hash"],
        now(connection, LOCK_SECONDS),
    )
    # This replaces the person's earlier lock on the item, expired or on another content.
    connection.execute(
        "INSERT INTO locks (token, item_id, annotator, round, content_hash, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (item_id, annotator) DO UPDATE "
        "SET token = excluded.token, round = excluded.round, "
        "content_hash = excluded.content_hash, expires_at = excluded.expires_at",
        [lock.token, lock.item_id, reviewer, lock.round, lock.content_hash, lock.expires_at],
    )
    return lock


def _unexpired(connection: sqlite3.Connection, claim: Claim) -> sqlite3.Row | None:
    row: sqlite3.Row | None = connection.execute(
        "SELECT token, item_id, annotator, round, content_hash FROM locks "
        f"WHERE {_CLAIMED} AND expires_at > ?",
        [*claim, now(connection)],
    ).fetchone()
    return row


def _renewed(connection: sqlite3.Connection, lock: sqlite3.Row) -> Lock:
    expires_at = now(connection, LOCK_SECONDS)
    connection.execute(
        "UPDATE locks SET expires_at = ? WHERE token = ?", [expires_at, lock["token"]]
    )
    return Lock(
        lock["token"],
        lock["item_id"],
        lock["annotator"],
        lock["round"],
        lock["content_hash"],
        expires_at,
    )
