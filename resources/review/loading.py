"""Loading of decisions, comments and gold items from another review store, without duplicates.

Every function runs inside the caller's transaction.
"""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, text

from methods.review.decisions import Decision
from resources.review import events, gold, item_status
from resources.review.gold import NewGold

Ended = tuple[str, str | None, str]
"""The revocation of a decision: (person, reason or None, time)."""
_REVOKE = text("""
INSERT INTO revocations (event_id, person, reason, revoked_at)
VALUES (:event_id, :person, :reason, :revoked_at)
""")
_COMMENT = text("""
INSERT INTO comments (item_id, author, addressee, text, written_at)
SELECT :item_id, :author, CAST(:addressee AS TEXT), :text, :written_at
WHERE NOT EXISTS (
    SELECT 1 FROM comments
    WHERE item_id = :item_id AND text = :text AND written_at = :written_at
)
""")


def load(
    connection: Connection,
    decided: Iterable[tuple[Decision, Ended | None]],
    written: Iterable[dict[str, Any]],
    golden: Iterable[NewGold] = (),
) -> tuple[int, int, int]:
    """Add decisions with their revocations, comments and gold items.

    Stored decisions and comments are recognized by content and time, since their person may have been
    renamed.

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
            connection.execute(_REVOKE, end | {"event_id": event_id})
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
