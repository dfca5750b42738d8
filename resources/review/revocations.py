"""Revocation of decisions: people take back their own decisions, administrators reopen items.

Decisions never change. A row of the table `revocations` marks a decision as no longer counting, and the
status of its item is updated. Every function runs inside the caller's transaction.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, text

from methods.errors import UserError
from methods.ids import canonical_json
from methods.review.decisions import Decision, parsed_time
from resources.review import events, item_status, items
from resources.review.clock import database_time, time_of_day
from resources.review.locks import STORE_DRAFT
from resources.review.tables import REVOCATIONS

MAX_REASON = 1000
TAKE_BACK_SECONDS = 900
"""The time in which people take back a decision if the rules have gold items."""
MOST_TAKEN_BACK = 10
"""The most decisions on an item that a person takes back. The page of an item's history has all."""
_READ = text("""
SELECT event_id, r.person, r.reason, r.revoked_at
FROM revocations AS r JOIN events USING (event_id)
WHERE CAST(:item_id AS TEXT) IS NULL OR item_id = :item_id
""")
_LAST = text("""
SELECT item_id, event_id FROM in_force WHERE reviewer = :person ORDER BY event_id DESC LIMIT 1
""")
_LAST_EVENT = text("SELECT max(event_id) FROM events WHERE reviewer = :person")


class RevocationError(UserError):
    """A decision cannot be taken back; `why` is the reason in one word."""

    def __init__(self, why: str) -> None:
        super().__init__(_WHY[why])
        self.why = why


_WHY = {
    "none": "There is no such decision of this person in force on this item.",
    "late": "Somebody else has decided on this item since or in the same round, or, with gold items, "
    "this person on others since: an administrator can open it again.",
    "often": f"This person has taken back {MOST_TAKEN_BACK} decisions on this item, which is the most: "
    "an administrator can open it again.",
    "reason": "Opening an item again needs a reason: give one.",
    "nothing": "This item has no decision of this round that could end.",
}


@dataclass(frozen=True)
class Revocation:
    """The revocation of a decision by `person`. `reason` is None if the person took their own decision
    back; a reopened item has a reason."""

    event_id: int
    person: str
    reason: str | None
    revoked_at: str


def read(connection: Connection, item_id: str | None = None) -> dict[int, Revocation]:
    """Read revocations, on one item or all, by the id of the revoked event."""
    rows = connection.execute(_READ, {"item_id": item_id})
    return {row.event_id: Revocation(*row) for row in rows}


def last_of(connection: Connection, person: str) -> Decision | None:
    """Find the last decision of a person; None if they may not take it back."""
    row = connection.execute(_LAST, {"person": person}).first()
    if row is None:
        return None
    own = may_take_back(connection, row.item_id, person)
    return next((each for each in own if each.event_id == row.event_id), None)


def may_take_back(connection: Connection, item_id: str, person: str) -> list[Decision]:
    """Select the decisions on an item that a person may take back.

    These are the person's own decisions, unless somebody else decided later, or in the same round on
    the same content. In these cases the people may know each other's decisions, and a new decision
    would not be blind. A skip does not count as a decision.

    A person takes back at most MOST_TAKEN_BACK decisions on an item.

    If the rules have gold items, it is only the person's last decision, for TAKE_BACK_SECONDS: nobody
    else decides on a gold item, so that it could be told apart later.

    Args:
        connection: The review store.
        item_id: The item.
        person: The person.

    Returns:
        The decisions.
    """
    if _is_often(connection, item_id, person):
        return []
    decided = events.read(connection, [item_id])
    others = [each for each in decided if each.reviewer != person and each.verdict != "skip"]
    own = [
        own
        for own in decided
        if own.reviewer == person
        and not any(
            (other.event_id or 0) > (own.event_id or 0)
            or (other.round, other.content_hash) == (own.round, own.content_hash)
            for other in others
        )
    ]
    if not item_status.current_rules(connection).uses_gold:
        return own
    last = connection.execute(_LAST_EVENT, {"person": person}).scalar()
    since = time_of_day(connection) - timedelta(seconds=TAKE_BACK_SECONDS)
    return [each for each in own if each.event_id == last and parsed_time(each.decided_at) >= since]


def take_back(connection: Connection, item_id: str, event_id: int, person: str) -> Decision:
    """Take back one's own decision; its content becomes the person's draft.

    Args:
        connection: The review store.
        item_id: The item.
        event_id: The decision.
        person: The person.

    Returns:
        The decision.

    Raises:
        RevocationError: It is not their decision, or it is too late.
    """
    decided = events.read(connection, [item_id])
    own = next((each for each in decided if each.event_id == event_id), None)
    if own is None or own.reviewer != person:
        raise RevocationError("none")
    if own not in may_take_back(connection, item_id, person):
        raise RevocationError("often" if _is_often(connection, item_id, person) else "late")
    _revoke(connection, [own], person, None)
    content_of_draft = {
        **{"content": own.edits, "verdict": own.verdict, "reason": own.reason},
        **{"note": own.note, "seconds": own.seconds},
    }
    draft = {
        **{"item_id": own.item_id, "content_hash": own.content_hash, "round": own.round},
        **{"annotator": person, "draft": canonical_json(content_of_draft)},
        "saved_at": database_time(connection),
    }
    connection.execute(STORE_DRAFT, draft)
    return own


def _is_often(connection: Connection, item_id: str, person: str) -> bool:
    ended = read(connection, item_id).values()
    return sum(each.person == person and each.reason is None for each in ended) >= MOST_TAKEN_BACK


def reopen(connection: Connection, item_id: str, person: str, round: int, reason: str) -> None:
    """Reopen an item: revoke all its decisions (round 1), or the expert's decision (round 2).

    Args:
        connection: The review store.
        item_id: The item.
        person: The person who reopens it.
        round: The round.
        reason: The reason.

    Raises:
        RevocationError: The reason is empty, or there is no decision to revoke.
    """
    reason = reason.strip()
    if not reason:
        raise RevocationError("reason")
    if round == 1:
        decided = events.read(connection, [item_id])
        ended = [each for each in decided if each.verdict != "skip"]
    else:
        state = items.state(connection, item_id)
        ended = [] if state is None or not state.expert_decision else [state.expert_decision]
    if not ended:
        raise RevocationError("nothing")
    _revoke(connection, ended, person, reason[:MAX_REASON])


def _revoke(connection: Connection, ended: list[Decision], person: str, reason: str | None) -> None:
    end: dict[str, Any] = {
        "person": person,
        "reason": reason,
        "revoked_at": database_time(connection),
    }
    connection.execute(REVOCATIONS.insert(), [end | {"event_id": each.event_id} for each in ended])
    item_status.update(connection, sorted({each.item_id for each in ended}))
