"""Loading of decisions, comments and gold items from elsewhere, without duplicates.

Every function runs inside the caller's transaction.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from methods.ids import canonical_json
from methods.review.decisions import Decision, by_item, parsed_time
from methods.review.process import review_state
from resources.review import comments, events, gold, item_status, items
from resources.review.credentials import AccountError, folded_name
from resources.review.gold import NewGold
from resources.review.tables import COMMENTS, REVOCATIONS

Ended = tuple[str, str | None, str]
"""The revocation of a decision: (person, reason or None, time)."""
_ACCOUNTS = text("SELECT folded FROM accounts")


class RowKey(NamedTuple):
    """What a row of a dump says, its identity among rows that say the same, and its person.

    Identity and person may differ in the store if the person was renamed or erased.
    """

    says: str
    identity: str
    person: str


class LoadResult(NamedTuple):
    """What was done with the rows of a dump.

    Attributes:
        decisions: The number of new decisions.
        comments: The number of new comments.
        n_known: The number of rows that were stored already.
        n_ended: The number of stored decisions that ended, as they had in the dump.
        contradicted: The items whose new decisions were left out, as later ones are stored.
    """

    decisions: int
    comments: int
    n_known: int
    n_ended: int
    contradicted: tuple[str, ...]


def decision_key(decision: Decision) -> RowKey:
    """Return the key of a decision, with its source hash."""
    on = [decision.item_id, decision.content_hash, decision.round, decision.verdict]
    says = canonical_json([*on, decision.edits, decision.decided_at])
    return RowKey(says, events.source_of(decision), decision.reviewer)


def comment_key(comment: Mapping[str, Any]) -> RowKey:
    """Return the key of a comment, with its author."""
    on = [comment["item_id"], comment["text"], comment["written_at"]]
    return RowKey(canonical_json(on), comment["author"], comment["author"])


def stored_counterparts(
    rows: Iterable[RowKey], stored: Iterable[RowKey], accounts: Collection[str]
) -> list[RowKey | None]:
    """Find the stored row of each row of a dump.

    Rows that say the same and have the same identity are one row. A stored row that equals no row of
    the dump may be that of a person who was renamed or erased in one of the two stores. It stands for
    one row that says the same if one of the two people has no account here.

    Args:
        rows: The keys of the rows of the dump.
        stored: The keys of the stored rows.
        accounts: The folded names of the accounts.

    Returns:
        The key of the stored row, or of an equal earlier row of the dump; None for a new row.
    """
    rows = list(rows)
    by_identity = {key[:2]: key for key in stored}
    named = {key[:2] for key in rows}
    renamed: dict[str, list[RowKey]] = defaultdict(list)
    for key in by_identity.values():
        if key[:2] not in named:
            renamed[key.says].append(key)
    results: list[RowKey | None] = []
    for key in rows:
        counterpart = by_identity.get(key[:2])
        if counterpart is None:
            people = renamed[key.says]
            has_account = folded_name(key.person) in accounts
            counterpart = next(
                (
                    other
                    for other in people
                    if not (has_account and folded_name(other.person) in accounts)
                ),
                None,
            )
            if counterpart is not None:
                people.remove(counterpart)
        results.append(counterpart)
        by_identity.setdefault(key[:2], counterpart or key)
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
) -> LoadResult:
    """Store the decisions, comments and gold items of another store in one transaction.

    `stored_counterparts` recognizes stored decisions and comments. Of these only one thing changes: a
    decision that the other store has ended ends here, too. The later decision wins, wherever it was
    made: new decisions on an item are left out if they would count only because they are stored last.

    Args:
        connection: The review store.
        decided: The decisions, each with its revocation or None.
        written: The comments.
        golden: The gold items.

    Returns:
        What was stored, ended and left out.

    Raises:
        AccountError: The account of a new decision or comment is gone. Nothing is stored.
    """
    decided, written = list(decided), list(written)
    on = {decision.item_id for decision, _ in decided}
    accounts = set(connection.execute(_ACCOUNTS).scalars())
    stored_decisions = stored_counterparts(
        [decision_key(decision) for decision, _ in decided],
        map(decision_key, events.read(connection, on, revoked=True)),
        accounts,
    )
    stored_comments = stored_counterparts(
        map(comment_key, written),
        [comment_key(vars(each)) for each in comments.read(connection)],
        accounts,
    )
    for new in golden:
        gold.insert(connection, new)
    in_force = {events.source_of(each): each for each in events.read(connection, on)}
    ended_here: list[str] = []
    added: list[tuple[Decision, Ended | None]] = []
    for (decision, ended), counterpart in zip(decided, stored_decisions, strict=True):
        if counterpart is None:
            added.append((decision, ended))
        elif ended is not None and (own := in_force.pop(counterpart.identity, None)):
            _end(connection, own.event_id, ended)
            ended_here.append(own.item_id)
    stored_by_item = by_item(in_force.values())
    new_by_item = by_item(decision for decision, ended in added if ended is None)
    contradicted = tuple(
        item_id
        for item_id, new_decisions in new_by_item.items()
        if _contradicts(connection, item_id, stored_by_item[item_id], new_decisions)
    )
    added = [each for each in added if each[1] is not None or each[0].item_id not in contradicted]
    new_comments = [row for row, own in zip(written, stored_comments, strict=True) if own is None]
    _require_accounts(
        accounts,
        [*(decision.reviewer for decision, _ in added), *(row["author"] for row in new_comments)],
    )
    n_decisions = 0
    for decision, ended in added:
        event_id = events.append(connection, decision)
        n_decisions += event_id is not None
        if event_id is not None and ended is not None:
            _end(connection, event_id, ended)
    for comment in new_comments:
        connection.execute(COMMENTS.insert(), comment)
    item_status.update(
        connection, sorted({decision.item_id for decision, _ in added}.union(ended_here))
    )
    n_left_out = sum(len(new_by_item[item_id]) for item_id in contradicted)
    n_known = len(decided) - n_decisions - n_left_out + len(written) - len(new_comments)
    return LoadResult(n_decisions, len(new_comments), n_known, len(ended_here), contradicted)


def _end(connection: Connection, event_id: int | None, ended: Ended) -> None:
    person, reason, revoked_at = ended
    end = {"person": person, "reason": reason, "revoked_at": revoked_at}
    connection.execute(REVOCATIONS.insert(), end | {"event_id": event_id})


def _require_accounts(accounts: Collection[str], people: Iterable[str]) -> None:
    """Raise AccountError if a person's account was removed since the file was read."""
    for person in people:
        if folded_name(person) not in accounts:
            raise AccountError(f"The account {person!r} is gone now: load the file again.")


def _contradicts(
    connection: Connection, item_id: str, stored: list[Decision], new: list[Decision]
) -> bool:
    """Whether an item's state is another one with new decisions stored last than in order of time."""
    item = items.read(connection, item_id)
    if item is None or not stored or gold.is_gold(connection, item_id):
        return False
    rules = item_status.current_rules(connection).rules_for(item["kind"])
    as_stored = [*stored, *new]
    by_time = sorted(as_stored, key=lambda each: (parsed_time(each.decided_at), each.reviewer))
    outcomes = []
    for order in (as_stored, by_time):
        numbered = [replace(decision, event_id=n) for n, decision in enumerate(order, start=1)]
        state = review_state(item, numbered, rules)
        outcomes.append((state.status, state.item["content_hash"]))
    return outcomes[0] != outcomes[1]
