"""Loading of decisions, comments and gold items from elsewhere, without duplicates.

Every function runs inside the caller's transaction.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection

from methods.ids import canonical_json
from methods.review.decisions import Decision, parsed_time
from methods.review.process import review_state
from resources.review import comments, events, gold, item_status, items
from resources.review.clock import database_time
from resources.review.gold import NewGold
from resources.review.tables import COMMENTS, REVOCATIONS

Ended = tuple[str, str | None, str]
"""The revocation of a decision: (person, reason or None, time)."""
OUTDATED = "A later decision was stored here when this one was loaded."
"""The reason for the revocation of a loaded decision that is older than those that count."""


class RowKey(NamedTuple):
    """What a row of a dump says, its identity among rows that say the same, and its person.

    Identity and person may differ in the store if the person was renamed or erased.
    """

    says: str
    identity: str
    person: str


class LoadResult(NamedTuple):
    """The numbers of new decisions and comments, of stored rows, and of decisions that were ended.

    Attributes:
        decisions: The new decisions.
        comments: The new comments.
        n_known: The rows that were stored already.
        n_ended: The stored decisions that the other store has ended.
        n_outdated: The new decisions that do not count, as later ones were stored already.
    """

    decisions: int
    comments: int
    n_known: int
    n_ended: int
    n_outdated: int


def decision_key(decision: Decision) -> RowKey:
    """Return the key of a decision, with its source hash."""
    on = [decision.item_id, decision.content_hash, decision.round, decision.verdict]
    says = canonical_json([*on, decision.edits, decision.decided_at])
    return RowKey(says, events.source_of(decision), decision.reviewer)


def comment_key(comment: Mapping[str, Any]) -> RowKey:
    """Return the key of a comment, with its author."""
    on = [comment["item_id"], comment["text"], comment["written_at"]]
    return RowKey(canonical_json(on), comment["author"], comment["author"])


def are_stored(
    rows: Iterable[RowKey], stored: Iterable[RowKey], without_account: Collection[str]
) -> list[bool]:
    """Tell which rows of a dump are stored already.

    Rows that say the same and have the same identity are one row. If the person of a row has no account
    here, a stored row that equals no row of the dump may be theirs under another name. It stands for
    one row that says the same, and not for two.

    Args:
        rows: The keys of the rows of the dump.
        stored: The keys of the stored rows.
        without_account: The people in the dump who have no account.

    Returns:
        Whether each row is stored, or equals an earlier row of the dump.
    """
    rows = list(rows)
    says_by_id = {key[:2]: key.says for key in stored}
    same = says_by_id.keys() & {key[:2] for key in rows}
    renamed = Counter(says for key, says in says_by_id.items() if key not in same)
    results = []
    for key in rows:
        is_stored = key[:2] in same
        if not is_stored and key.person in without_account and renamed[key.says]:
            renamed[key.says] -= 1
            is_stored = True
        same.add(key[:2])
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
    without_account: Collection[str] = (),
) -> LoadResult:
    """Store the decisions, comments and gold items of another store in one transaction.

    `are_stored` recognizes stored decisions and comments. Of these only one thing changes: a decision
    that the other store has ended ends here, too. A new decision that is older than the stored ones and
    would count only because it is stored after them is ended at once.

    Args:
        connection: The review store.
        decided: The decisions, each with its revocation or None.
        written: The comments.
        golden: The gold items.
        without_account: The people of these decisions and comments who have no account.

    Returns:
        The counts.
    """
    decided, written = list(decided), list(written)
    on = {decision.item_id for decision, _ in decided}
    before = events.read(connection, on, revoked=True)
    known_decisions = are_stored(
        [decision_key(decision) for decision, _ in decided],
        map(decision_key, before),
        without_account,
    )
    known_comments = are_stored(
        map(comment_key, written),
        [comment_key(vars(each)) for each in comments.read(connection)],
        without_account,
    )
    for new in golden:
        gold.insert(connection, new)
    in_force = {events.source_of(each): each.event_id for each in events.read(connection, on)}
    added: dict[int, Decision] = {}
    ended_here: list[str] = []
    for (decision, ended), is_known in zip(decided, known_decisions, strict=True):
        event_id = None if is_known else events.append(connection, decision)
        if event_id is not None:
            added[event_id] = decision
        elif ended is not None:
            event_id = in_force.pop(events.source_of(decision), None)
            if event_id is not None:
                ended_here.append(decision.item_id)
        if event_id is not None and ended is not None:
            _end(connection, event_id, *ended)
    new_comments = [
        row for row, is_known in zip(written, known_comments, strict=True) if not is_known
    ]
    for comment in new_comments:
        connection.execute(COMMENTS.insert(), comment)
    changed = {decision.item_id for decision in added.values()}
    stored_before = {decision.item_id for decision in before}
    n_outdated = sum(
        _end_outdated(connection, item_id, added) for item_id in sorted(changed & stored_before)
    )
    item_status.update(connection, sorted(changed.union(ended_here)))
    n_known = len(decided) - len(added) + len(written) - len(new_comments)
    return LoadResult(len(added), len(new_comments), n_known, len(ended_here), n_outdated)


def _end(
    connection: Connection, event_id: int, person: str, reason: str | None, revoked_at: str
) -> None:
    end = {"person": person, "reason": reason, "revoked_at": revoked_at}
    connection.execute(REVOCATIONS.insert(), end | {"event_id": event_id})


def _end_outdated(connection: Connection, item_id: str, added: Collection[int]) -> int:
    """End the new decisions on an item that would not count if all were stored in order of time.

    Args:
        connection: The review store.
        item_id: The item.
        added: The event ids of the new decisions.

    Returns:
        How many were ended.
    """
    item = items.read(connection, item_id)
    if item is None or gold.is_gold(connection, item_id):
        return 0
    rules = item_status.current_rules(connection).rules_for(item["kind"])
    n_ended = 0
    while True:
        decided = events.read(connection, [item_id])
        by_time = sorted(decided, key=lambda decision: parsed_time(decision.decided_at))
        in_time = [replace(decision, event_id=n) for n, decision in enumerate(by_time, start=1)]
        counted = {each.source_hash for each in review_state(item, in_time, rules).counted}
        outdated = [
            decision
            for decision in review_state(item, decided, rules).counted
            if decision.event_id in added and decision.source_hash not in counted
        ]
        if not outdated:
            return n_ended
        for decision in outdated:
            assert decision.event_id is not None
            _end(
                connection,
                decision.event_id,
                decision.reviewer,
                OUTDATED,
                database_time(connection),
            )
        n_ended += len(outdated)
