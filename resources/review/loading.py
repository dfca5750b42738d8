"""Loading of decisions, comments and gold items from elsewhere, without duplicates.

Every function runs inside the caller's transaction.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, text

from methods.review.decisions import Decision
from resources.review import events, gold, item_status
from resources.review.gold import NewGold
from resources.review.tables import REVOCATIONS

Ended = tuple[str, str | None, str]
"""The revocation of a decision: (person, reason or None, time)."""
_COMMENT = text("""
INSERT INTO comments (item_id, author, addressee, text, written_at)
SELECT :item_id, :author, CAST(:addressee AS TEXT), :text, :written_at
WHERE NOT EXISTS (
    SELECT 1 FROM comments
    WHERE item_id = :item_id AND text = :text AND written_at = :written_at
)
""")


def append(connection: Connection, decisions: Iterable[Decision]) -> tuple[int, int]:
    """Store decisions made outside the app, all or none; return (n_added, n_known).

    A decision whose source hash is stored already counts as known. If a decision violates a constraint
    of the table, raises SQLAlchemy's IntegrityError and stores nothing.
    """
    decisions = list(decisions)
    added = [each for each in decisions if events.append(connection, each) is not None]
    item_status.update(connection, sorted({decision.item_id for decision in added}))
    return len(added), len(decisions) - len(added)


def load(
    connection: Connection,
    decided: Iterable[tuple[Decision, Ended | None]],
    written: Iterable[dict[str, Any]],
    golden: Iterable[NewGold] = (),
) -> tuple[int, int, int]:
    """Store the decisions, comments and gold items of another store in one transaction.

    Existing rows do not change. Stored decisions and comments are recognized by content and time, since
    their person may have been renamed.

    Args:
        connection: The review store.
        decided: The decisions, each with its revocation or None.
        written: The comments.
        golden: The gold items.

    Returns:
        The numbers of new decisions, of new comments, and of rows that were stored already.
    """
    n_decisions = n_comments = n_known = 0
    changed = set()
    for new in golden:
        gold.insert(connection, new)
    for decision, ended in decided:
        event_id = None
        if events.same_decision(connection, decision) is None:
            event_id = events.append(connection, decision)
        added = event_id is not None
        # A decision that is stored already does not change: its revocation is not added.
        if added and ended is not None:
            person, reason, revoked_at = ended
            end = {"person": person, "reason": reason, "revoked_at": revoked_at}
            connection.execute(REVOCATIONS.insert(), end | {"event_id": event_id})
        if added:
            changed.add(decision.item_id)
        n_decisions += added
        n_known += not added
    for comment in written:
        added = bool(connection.execute(_COMMENT, comment).rowcount)
        n_comments += added
        n_known += not added
    item_status.update(connection, sorted(changed))
    return n_decisions, n_comments, n_known
