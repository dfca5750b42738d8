"""Locks and drafts: which person works on which item until when, and their unfinished work.

Every function runs inside the caller's transaction, so that two people never get the same lock.
"""

import secrets
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, text

from methods.ids import canonical_json, content_id
from methods.json_text import from_json
from methods.review.decisions import Decision, StaleDecision
from methods.review.process import ROUND_OF_ROLE, RuleBook
from resources.review import events, gold, item_status
from resources.review.clock import advance, database_time, later, time_of_locks, time_of_row, today
from resources.review.statements import sql

_IN_WORK = text("""
SELECT 1 FROM locks WHERE item_id = :item_id AND annotator = :reviewer AND expires_at > :now
UNION ALL
SELECT 1 FROM events AS e
WHERE
    e.item_id = :item_id
    AND e.reviewer = :reviewer
    AND NOT EXISTS (
        SELECT 1 FROM in_force AS f WHERE f.item_id = e.item_id AND f.reviewer = e.reviewer
    )
""")
LOCK_SECONDS = 900
"""Duration of a lock that is not renewed."""

MOST_LOCKS = 20
"""The most locks that a person has when they open an item by its id; older ones end."""

_KEPT_SECONDS = 7 * 24 * 3600
"""Rows of expired locks are kept at least this long: their tokens can still read and save drafts."""

MOST_DECIDED = 20
"""The most decisions of a person on an item in a round, with those that were taken back. The page of
the item's history has all."""

_HANDED_OUT: dict[int, tuple[str, ...]] = {1: ("to_rework", "round_1"), 2: ("round_2",)}
"""Round -> statuses of items that people get, in this order. A rejected item is not in the list: a
person gets it only by its id."""

ANY_DRAFT = "any"
"""A version that matches any stored draft."""

_CLAIMED = "token = :token AND item_id = :item_id AND annotator = :annotator"
_ON_ANOTHER_DRAFT = """
ON CONFLICT (item_id, content_hash, round, annotator)
DO UPDATE SET draft = excluded.draft, saved_at = excluded.saved_at
"""
STORE_DRAFT = text(f"""
INSERT INTO drafts (item_id, content_hash, round, annotator, draft, saved_at)
VALUES (:item_id, :content_hash, :round, :annotator, :draft, :saved_at) {_ON_ANOTHER_DRAFT}
""")
"""Stores a draft; replaces an earlier draft of the person on the same content and round."""
_STORE_DRAFT_OF_LOCK = text(f"""
INSERT INTO drafts (item_id, content_hash, round, annotator, draft, saved_at)
SELECT item_id, content_hash, round, annotator, :draft, :saved_at FROM locks WHERE {_CLAIMED}
{_ON_ANOTHER_DRAFT}
""")
_DRAFT = text(f"""
SELECT draft FROM drafts JOIN locks USING (item_id, content_hash, round, annotator) WHERE {_CLAIMED}
""")
_DELETE_DRAFT = text("""
DELETE FROM drafts
WHERE
    item_id = :item_id AND content_hash = :content_hash AND round = :round
    AND annotator = :annotator
""")
_DELETE_OLD = text("DELETE FROM locks WHERE expires_at < :kept_since")
_DELETE = text("DELETE FROM locks WHERE token = :token")
_INSERT = text("""
INSERT INTO locks (token, item_id, annotator, round, content_hash, expires_at)
VALUES (:token, :item_id, :annotator, :round, :content_hash, :expires_at)
ON CONFLICT (item_id, annotator) DO UPDATE SET
    token = excluded.token, round = excluded.round, content_hash = excluded.content_hash,
    expires_at = excluded.expires_at
""")
_RENEW = text(f"UPDATE locks SET expires_at = :until WHERE {_CLAIMED} AND expires_at > :now")
_END_OLDEST = text("""
UPDATE locks SET expires_at = :now
WHERE
    annotator = :annotator
    AND expires_at > :now
    AND token <> :token
    AND token NOT IN (
        SELECT token FROM locks
        WHERE annotator = :annotator AND expires_at > :now AND token <> :token
        ORDER BY expires_at DESC LIMIT :n_others
    )
""")
_END = text(f"UPDATE locks SET expires_at = :now WHERE {_CLAIMED}")
_STANDING = text("SELECT kind, status, round, unreserved FROM standings WHERE item_id = :item_id")
_BARRED = text("SELECT 1 FROM bars WHERE item_id = :item_id AND annotator = :annotator")
_ASSIGNED = text("""
SELECT 1 FROM assigned
WHERE item_id = :item_id AND annotator = :annotator AND round = :round AND progress = 'open'
""")


class LockLost(RuntimeError):
    """The lock has expired, was released, or never existed; the message says what to do."""


class DecidedOften(RuntimeError):
    """The person has decided the item MOST_DECIDED times in this round and can only skip it."""


class DraftConflict(RuntimeError):
    """The same person has saved another draft meanwhile, for example in another browser tab."""


class LockClaim(NamedTuple):
    """A client's claim to a lock: person, item and token. All three must match the stored lock."""

    token: str
    item_id: str
    annotator: str


@dataclass(frozen=True)
class Lock:
    """The right to decide one round of an item until `expires_at` (UTC, ISO 8601).

    `content_hash` is the hash of the content to decide on: `ReviewStore.state(item_id).item`.
    """

    token: str
    item_id: str
    annotator: str
    round: int
    content_hash: str
    expires_at: str

    @property
    def claim(self) -> LockClaim:
        """The claim that the client sends with every action on the item."""
        return LockClaim(self.token, self.item_id, self.annotator)


def lock_item(
    connection: Connection,
    reviewer: str,
    role: str,
    *,
    kind: str | None = None,
    item_id: str | None = None,
) -> Lock | None:
    """Lock an item for LOCK_SECONDS: the given one, or the next one.

    Annotators get items of round 1 or for rework, experts and admins get items of round 2. An item is
    not available if the person decided or skipped it, decided it in the other round, or has reached the
    daily quota, or if as many people have locked it as it needs. A person who already has a lock gets
    it again, renewed. With `item_id` an annotator may also lock a rejected item, and a person with
    MOST_LOCKS locks loses the one that was renewed longest ago.

    Args:
        connection: The review store.
        reviewer: The person.
        role: Their role.
        kind: The kind of item; None for any.
        item_id: The item; None for the next one.

    Returns:
        The lock; None if no item is available.
    """
    time = advance(connection)
    round = ROUND_OF_ROLE[role]
    values: dict[str, Any] = {
        "reviewer": reviewer,
        "now": time,
        "round": round,
        "kind": kind,
        "item_id": item_id,
    }
    person = connection.execute(sql("person"), values).one()
    if person.token is not None:
        lock = _lock(reviewer, person, person.token, time)
        renewed = {**lock.claim._asdict(), "now": time, "until": lock.expires_at}
        connection.execute(_RENEW, renewed)
        return lock
    rules = item_status.rules_of(person.rules)
    # A text with all kinds: a list would expand to a new statement each time.
    full = _kinds_at_quota(connection, reviewer, rules, time)
    values["full"] = "".join(f" {kind} " for kind in full)
    values["any"] = rules.after_assigned == "any"
    item: Row[Any] | None
    if item_id is not None and (again := gold.taken_back_gold(connection, values)) is not None:
        item = again
    elif round == 1 and gold.in_calibration(connection, reviewer, rules):
        item = None
        if item_id is None:
            item = gold.next_gold(connection, values, rules, always=True)
    elif item_id is not None:
        item = connection.execute(sql("this_item"), values).first()
    else:
        item = _next(connection, values, rules, person)
    if item is None:
        return None
    lock = _lock(reviewer, item, secrets.token_urlsafe(18), time)
    # This replaces an earlier lock of the person on the item, which expired or is for other content.
    connection.execute(_INSERT, vars(lock))
    if item_id is not None:
        parameters = {**lock.claim._asdict(), "now": time, "n_others": MOST_LOCKS - 1}
        connection.execute(_END_OLDEST, parameters)
    return lock


def is_in_work(connection: Connection, item_id: str, reviewer: str) -> bool:
    """Check whether a person has an item locked, or took their decision on it back.

    Args:
        connection: The review store.
        item_id: The item.
        reviewer: The person.

    Returns:
        True if so.
    """
    values = {"item_id": item_id, "reviewer": reviewer, "now": time_of_locks(connection)}
    return connection.execute(_IN_WORK, values).first() is not None


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
"""Why a person gets no lock on an item. They have decided or skipped it; it needs no decision (`done`);
it needs the decision of `annotators` or of an `expert`; they are in calibration, or have reached their
daily quota; it is assigned to others; enough other people have locked it."""


def no_lock_reason(connection: Connection, reviewer: str, role: str, item_id: str) -> WhyNot:
    """Explain why `lock_item` gives a person no lock on an item.

    Args:
        connection: The review store.
        reviewer: The person.
        role: Their role.
        item_id: The item.

    Returns:
        The reason.
    """
    round = ROUND_OF_ROLE[role]
    rules = item_status.current_rules(connection)
    person = {"item_id": item_id, "annotator": reviewer, "round": round}
    standing = connection.execute(_STANDING, {"item_id": item_id}).first()
    own = [each for each in events.read(connection, [item_id]) if each.reviewer == reviewer]
    barred = connection.execute(_BARRED, person).first()
    if own and (barred or standing is None):
        return "skipped" if own[-1].verdict == "skip" else "decided"
    if standing is None or standing.round is None:
        return "done"
    if standing.round != round:
        return "annotators" if standing.round == 1 else "expert"
    if round == 1 and gold.in_calibration(connection, reviewer, rules):
        return "calibration"
    if standing.kind in _kinds_at_quota(connection, reviewer, rules, time_of_locks(connection)):
        return "quota"
    is_reserved = rules.after_assigned != "any" and standing.status != "rejected"
    if (
        is_reserved
        and standing.unreserved <= 0
        and connection.execute(_ASSIGNED, person).first() is None
    ):
        return "assigned"
    return "locked"


def _next(
    connection: Connection, values: dict[str, Any], rules: RuleBook, person: Row[Any]
) -> Row[Any] | None:
    """Find the person's next item: gold that is due, then those assigned, then any."""
    round = values["round"]
    if round == 1:
        item = gold.next_gold(connection, values, rules, always=False)
        if item is not None:
            return item
    if person.has_assigned:
        for kind in dict.fromkeys((values["kind"], None)):
            item = connection.execute(sql("next_assigned"), values | {"kind": kind}).first()
            if item is not None:
                return item
        if rules.after_assigned == "none":
            return None
    for status in _HANDED_OUT[round]:
        if status == "to_rework" and not person.has_rework:
            continue
        item = connection.execute(sql("next_item"), values | {"status": status}).first()
        if item is not None:
            return item
    return None


def delete_old(connection: Connection) -> None:
    """Delete locks that ended long ago."""
    kept_since = later(time_of_locks(connection), -_KEPT_SECONDS)
    connection.execute(_DELETE_OLD, {"kept_since": kept_since})


def renew(connection: Connection, claim: LockClaim) -> bool:
    """Extend a lock to LOCK_SECONDS from now. False if it has expired."""
    time = time_of_locks(connection)
    values = {**claim._asdict(), "now": time, "until": later(time, LOCK_SECONDS)}
    return bool(connection.execute(_RENEW, values).rowcount)


def unlock(connection: Connection, claim: LockClaim) -> None:
    """End a lock; the draft stays. A lock that is unknown or somebody else's changes nothing."""
    connection.execute(_END, {**claim._asdict(), "now": advance(connection)})


def save_draft(
    connection: Connection,
    claim: LockClaim,
    draft: dict[str, Any],
    based_on: str | None = ANY_DRAFT,
) -> str:
    """Store a person's unfinished work, even under an expired lock, since a draft blocks nobody.

    Args:
        connection: The review store.
        claim: The lock.
        draft: The unfinished work.
        based_on: The version of the draft that it changes, or ANY_DRAFT.

    Returns:
        The version of the draft.

    Raises:
        LockLost: The lock is unknown, was deleted or is somebody else's.
        DraftConflict: The stored draft has another version.
    """
    stored = _stored_draft(connection, claim)
    typed = canonical_json(draft)
    if stored != typed:
        _require_version(stored, based_on)
    values = {**claim._asdict(), "draft": typed, "saved_at": database_time(connection)}
    if not connection.execute(_STORE_DRAFT_OF_LOCK, values).rowcount:
        raise LockLost("This lock is unknown or too old: open the item again.")
    return content_id(typed)


def draft(connection: Connection, claim: LockClaim) -> tuple[dict[str, Any] | None, str | None]:
    """Read the draft that a person saved for the locked content in this round, and its version.

    Both are None without a draft.
    """
    stored = _stored_draft(connection, claim)
    if stored is None:
        return None, None
    return from_json(stored), content_id(stored)


def _stored_draft(connection: Connection, claim: LockClaim) -> str | None:
    stored: str | None = connection.execute(_DRAFT, claim._asdict()).scalar()
    return stored


def _require_version(stored: str | None, based_on: str | None) -> None:
    """Raise DraftConflict if the stored draft is not the one that the person has seen."""
    if based_on != ANY_DRAFT and based_on != (None if stored is None else content_id(stored)):
        raise DraftConflict("Another draft was saved meanwhile: load it, or keep this one.")


def decide(
    connection: Connection, token: str, decision: Decision, based_on: str | None = ANY_DRAFT
) -> int:
    """Store a decision on a locked item, and delete the lock and the draft; return its event id.

    If the same decision is stored already, its event id is returned.

    Args:
        connection: The review store.
        token: The token of the lock.
        decision: The decision, from `check_decision(record, state.item)`.
        based_on: The version of the draft that it is based on.

    Raises:
        LockLost: The lock has expired, or is for another round. Nothing is stored.
        StaleDecision: The item changed, or was decided by somebody else. Nothing is stored.
        DraftConflict: The stored draft has another version. Nothing is stored.
        DecidedOften: The person can only skip the item. Nothing is stored.
    """
    decision = replace(decision, source_hash=events.source_of(decision))
    claim = LockClaim(token, decision.item_id, decision.reviewer)
    values = {**claim._asdict(), "source_hash": decision.source_hash}
    lock = connection.execute(sql("decision"), values).one()
    if lock.known is not None:
        return int(lock.known)
    time = time_of_row(connection, lock.ahead, lock.latest)
    if lock.expires_at is None or lock.expires_at <= time:
        raise LockLost(
            "The lock has expired, or is another person's or on another item: open the item again, the "
            "draft is kept."
        )
    # A request that began before the role changed may have locked the item after that.
    if not lock.round == decision.round == ROUND_OF_ROLE.get(lock.role, lock.round):
        raise LockLost("The lock is for another round than the decision or the person's role.")
    _require_version(lock.draft, based_on)
    status, round_now, content_now = lock.status, lock.round_now, lock.content_now
    if status is None and gold.is_gold(connection, decision.item_id):
        status, round_now, content_now = "gold", 1, lock.content_hash
    if status is None or round_now != decision.round:
        raise StaleDecision("This item needs no decision in this round any more.")
    if not decision.content_hash == lock.content_hash == content_now:
        raise StaleDecision("This item has changed since it was opened: open it again.")
    if status in ("to_rework", "rejected") and decision.verdict == "accept":
        raise StaleDecision("This item was rejected: edit it, reject it again or skip it.")
    if lock.n_decided >= MOST_DECIDED and decision.verdict != "skip":
        raise DecidedOften(
            f"{decision.reviewer} has decided this item {MOST_DECIDED} times, which is the most: "
            "skip it."
        )
    event_id = events.append(connection, decision)
    assert event_id is not None
    item_status.update(connection, [decision.item_id])
    connection.execute(_DELETE, {"token": token})
    if lock.draft is not None:
        place = {"content_hash": lock.content_hash, "round": lock.round}
        connection.execute(_DELETE_DRAFT, claim._asdict() | place)
    return event_id


def _kinds_at_quota(connection: Connection, reviewer: str, rules: RuleBook, time: str) -> list[str]:
    """Return the kinds for which the person has reached the quota of decided and locked items today."""
    if all(rule.quota is None for rule in (rules.default, *rules.kinds.values())):
        return []
    rows = connection.execute(
        sql("work_of_day"), {"reviewer": reviewer, "today": today(connection), "now": time}
    )
    full = []
    for kind, n_items in rows:
        quota = rules.rules_for(kind).quota
        if quota is not None and n_items >= quota:
            full.append(kind)
    return full


def _lock(reviewer: str, item: Row[Any], token: str, time: str) -> Lock:
    until = later(time, LOCK_SECONDS)
    return Lock(token, item.item_id, reviewer, item.round, item.content_hash, until)
