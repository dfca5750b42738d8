"""Loading of decisions, comments and gold items from elsewhere, without duplicates.

Every function runs inside the caller's transaction.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection

from methods.ids import canonical_json
from methods.review.decisions import Decision
from resources.review import comments, events, gold, item_status
from resources.review.gold import NewGold
from resources.review.tables import COMMENTS, REVOCATIONS

Ended = tuple[str, str | None, str]
"""The revocation of a decision: (person, reason or None, time)."""
RowKey = tuple[str, str]
"""What a row of a dump says, and what distinguishes it from rows of other people that say the same. The
second part may differ in the store if the person was renamed or erased."""


def decision_key(decision: Decision) -> RowKey:
    """Return the key of a decision, with its source hash."""
    on = [decision.item_id, decision.content_hash, decision.round, decision.verdict]
    return canonical_json([*on, decision.edits, decision.decided_at]), events.source_of(decision)


def comment_key(comment: Mapping[str, Any]) -> RowKey:
    """Return the key of a comment, with its author."""
    on = [comment["item_id"], comment["text"], comment["written_at"]]
    return canonical_json(on), comment["author"]


def are_stored(rows: Iterable[RowKey], stored: Iterable[RowKey]) -> list[bool]:
    """Tell which rows of a dump are stored already.

    Rows with equal keys are one row. A stored row that equals no row of the dump may be that of a
    renamed person: it stands for one row that says the same, and not for two.

    Args:
        rows: The keys of the rows of the dump.
        stored: The keys of the stored rows.

    Returns:
        Whether each row is stored, or equals an earlier row of the dump.
    """
    rows, stored = list(rows), list(stored)
    same = set(rows) & set(stored)
    renamed = Counter(key[0] for key in stored if key not in same)
    results = []
    for key in rows:
        is_stored = key in same
        if not is_stored and renamed[key[0]]:
            renamed[key[0]] -= 1
            is_stored = True
        same.add(key)
        results.append(is_stored)
    return results


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

    Existing rows do not change. `are_stored` recognizes stored decisions and comments.

    Args:
        connection: The review store.
        decided: The decisions, each with its revocation or None.
        written: The comments.
        golden: The gold items.

    Returns:
        The numbers of new decisions, of new comments, and of rows that were stored already.
    """
    decided, written = list(decided), list(written)
    on = {decision.item_id for decision, _ in decided}
    known_decisions = are_stored(
        [decision_key(decision) for decision, _ in decided],
        map(decision_key, events.read(connection, on, revoked=True)),
    )
    known_comments = are_stored(
        map(comment_key, written), [comment_key(vars(each)) for each in comments.read(connection)]
    )
    for new in golden:
        gold.insert(connection, new)
    n_decisions, changed = 0, set()
    for (decision, ended), is_known in zip(decided, known_decisions, strict=True):
        # A decision that is stored already does not change: its revocation is not added.
        event_id = None if is_known else events.append(connection, decision)
        if event_id is None:
            continue
        n_decisions += 1
        changed.add(decision.item_id)
        if ended is not None:
            person, reason, revoked_at = ended
            end = {"person": person, "reason": reason, "revoked_at": revoked_at}
            connection.execute(REVOCATIONS.insert(), end | {"event_id": event_id})
    added = [each for each, is_known in zip(written, known_comments, strict=True) if not is_known]
    for comment in added:
        connection.execute(COMMENTS.insert(), comment)
    item_status.update(connection, sorted(changed))
    n_known = len(decided) - n_decisions + len(written) - len(added)
    return n_decisions, len(added), n_known
