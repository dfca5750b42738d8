"""Loading of decisions, comments and gold items from elsewhere, without duplicates.

Every function runs inside the caller's transaction.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from methods.errors import UserError
from methods.ids import canonical_json
from methods.review.decisions import Decision, by_item, parsed_time
from methods.review.process import ROLE_OF_ROUND, review_state
from resources.review import comments, events, gold, item_status, items, revocations
from resources.review.accounts import ROLES, Account
from resources.review.credentials import folded_name
from resources.review.gold import NewGold
from resources.review.tables import COMMENTS, REVOCATIONS

_ACCOUNTS = text("SELECT folded, name, role FROM accounts")


class DumpError(UserError):
    """A dump cannot be loaded; the message says why in one sentence."""


class End(NamedTuple):
    """The revocation of a decision, by a person with a reason or, of an own decision, without one."""

    person: str
    reason: str | None
    revoked_at: str


class DumpedDecision(NamedTuple):
    """A decision of another store, with its row in the dump and, if it was revoked, its end."""

    row: int
    decision: Decision
    end: End | None


class LoadResult(NamedTuple):
    """What was done with the rows of a dump.

    Attributes:
        decisions: The number of new decisions.
        comments: The number of new comments.
        n_known: The number of rows that were stored already.
        n_ended: The number of stored decisions that ended, as they had in the dump.
        diverged: The items whose decisions were left out, because this store has other ones.
    """

    decisions: int
    comments: int
    n_known: int
    n_ended: int
    diverged: tuple[str, ...]


class _Missing(NamedTuple):
    """What the store lacks of an item's history: decisions, and ends of stored decisions."""

    decisions: list[DumpedDecision]
    ends: list[tuple[DumpedDecision, Decision]]


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
    decided: Iterable[DumpedDecision],
    written: Iterable[dict[str, Any]],
    golden: Iterable[NewGold] = (),
) -> LoadResult:
    """Store the decisions, comments and gold items of another store in one transaction.

    An item's decisions and their ends are its history. If the history of the dump continues the stored
    one, the rest is stored. If the stored one continues that of the dump, nothing changes. If each has
    something that the other lacks, the item is left out: two histories have no common order.

    Args:
        connection: The review store.
        decided: The decisions in the order of the other store.
        written: The comments.
        golden: The gold items that this store lacks.

    Returns:
        What was stored, ended and left out.

    Raises:
        DumpError: A person lacks an account or the needed role, would have decided both rounds of an
            item, or a decision has the source hash of another one. Nothing is stored.
    """
    people, decided, written = _People(connection), list(decided), list(written)
    for item in golden:
        made_by = people.stored_name(item.made_by, "admin")
        gold.insert(connection, item._replace(made_by=made_by))
    histories: dict[str, list[DumpedDecision]] = defaultdict(list)
    for dumped in decided:
        histories[dumped.decision.item_id].append(dumped)
    stored = by_item(events.read(connection, histories, revoked=True))
    revoked = revocations.read(connection).keys()
    new: list[DumpedDecision] = []
    ends: list[tuple[DumpedDecision, Decision]] = []
    diverged = []
    for item_id, history in histories.items():
        missing = _missing(people, history, stored[item_id], revoked)
        if missing is None:
            diverged.append(item_id)
        else:
            new += missing.decisions
            ends += missing.ends
    for dumped in sorted(new, key=lambda each: each.row):
        _store(connection, people, dumped)
    for dumped, own in ends:
        _end(connection, people, dumped, own)
    new_comments = _new_comments(connection, people, written)
    people.require_all()
    changed = sorted({each.decision.item_id for each in [*new, *(dumped for dumped, _ in ends)]})
    _require_other_experts(connection, changed)
    item_status.update(connection, changed)
    n_left_out = sum(len(histories[item_id]) for item_id in diverged)
    n_known = len(decided) - n_left_out - len(new) + len(written) - len(new_comments)
    return LoadResult(len(new), len(new_comments), n_known, len(ends), tuple(diverged))


class _People:
    """Maps the names of a dump to accounts; collects names without an account or the needed role."""

    def __init__(self, connection: Connection):
        rows = connection.execute(_ACCOUNTS)
        self._accounts = {row.folded: Account(row.name, row.role) for row in rows}
        self._lacking: dict[str, tuple[str, str | None, str]] = {}
        """Folded name -> (name, role of the account or None without one, needed role)."""

    def may_be_same(self, name: str, other: str) -> bool:
        """Whether two names may be of one person, who was renamed or erased in one store."""
        return not all(folded_name(each) in self._accounts for each in (name, other))

    def stored_name(self, name: str, role: str = ROLES[0]) -> str:
        """Return the account's spelling of a name, or the name; `role` is what the act needs."""
        key = folded_name(name)
        account = self._accounts.get(key)
        if account is None or not account.may(role):
            first, _, before = self._lacking.get(key, (name, None, role))
            needed = max(before, role, key=ROLES.index)
            self._lacking[key] = first, account.role if account else None, needed
        return account.name if account else name

    def require_all(self) -> None:
        """Raise DumpError with all names that have no account or too low a role."""
        missing = [(name, role) for name, own, role in self._lacking.values() if own is None]
        if missing:
            names = ", ".join(repr(name) for name, _ in missing)
            adding = " && ".join(
                f"vlm-loom review account add {shlex.quote(name)} --role {role}"
                for name, role in missing
            )
            raise DumpError(
                f"There is no account {names}, and decisions and comments need one. If the file is "
                f"right, run {adding} and load the file again."
            )
        if self._lacking:
            roles = ", ".join(
                f"{name!r} is {own} here and did what only {role} may do"
                for name, own, role in self._lacking.values()
            )
            changing = " && ".join(
                f"vlm-loom review account role {shlex.quote(name)} {role}"
                for name, _, role in self._lacking.values()
            )
            raise DumpError(
                f"{roles}. If the file is right, run {changing} and load the file again."
            )


def _missing(
    people: _People,
    history: list[DumpedDecision],
    stored: list[Decision],
    revoked: Iterable[int | None],
) -> _Missing | None:
    """Return what the stored history of an item lacks; None if the other one lacks something, too."""
    pairs = list(zip(history, stored, strict=False))
    if not all(_is_same(people, dumped.decision, own) for dumped, own in pairs):
        return None
    ends = [pair for pair in pairs if pair[0].end and pair[1].event_id not in revoked]
    new = history[len(stored) :]
    ended_here = any(own.event_id in revoked and not dumped.end for dumped, own in pairs)
    if (new or ends) and (ended_here or len(stored) > len(history)):
        return None
    return _Missing(new, ends)


def _is_same(people: _People, decision: Decision, other: Decision) -> bool:
    """Whether two decisions are one, although its person may be renamed or erased in one store."""
    if _outcome(decision) != _outcome(other):
        return False
    is_known = events.source_of(decision) == events.source_of(other)
    return is_known or people.may_be_same(decision.reviewer, other.reviewer)


def _outcome(decision: Decision) -> tuple[str, datetime]:
    """What was decided, and when; the time may be written in several forms."""
    on = [decision.content_hash, decision.round, decision.verdict, decision.edits]
    return canonical_json(on), parsed_time(decision.decided_at)


def _store(connection: Connection, people: _People, dumped: DumpedDecision) -> None:
    """Store a decision with its end. Raises DumpError for the source hash of another decision."""
    decision = dumped.decision
    reviewer = people.stored_name(decision.reviewer, ROLE_OF_ROUND[decision.round])
    event_id = events.append(connection, replace(decision, reviewer=reviewer))
    if event_id is None:
        raise DumpError(
            f"A decision of {reviewer} on item {decision.item_id} has the source_hash of another "
            "decision: correct it."
        )
    _end(connection, people, dumped, replace(decision, reviewer=reviewer, event_id=event_id))


def _end(connection: Connection, people: _People, dumped: DumpedDecision, stored: Decision) -> None:
    """End a stored decision if it has ended in the dump."""
    if dumped.end is None:
        return
    person, reason, revoked_at = dumped.end
    is_own = person == dumped.decision.reviewer
    by = stored.reviewer if is_own else people.stored_name(person, "admin")
    values = {"person": by, "reason": reason, "revoked_at": revoked_at}
    connection.execute(REVOCATIONS.insert(), values | {"event_id": stored.event_id})


def _new_comments(
    connection: Connection, people: _People, written: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Store the comments that the store lacks, and return them."""
    authors: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for stored in comments.read(connection):
        authors[stored.item_id, stored.text, stored.written_at].append(stored.author)
    new_comments = []
    for comment in written:
        same = authors[comment["item_id"], comment["text"], comment["written_at"]]
        author = comment["author"]
        if any(author == other or people.may_be_same(author, other) for other in same):
            continue
        addressee = comment["addressee"]
        author = people.stored_name(author)
        addressee = people.stored_name(addressee) if addressee else None
        same.append(author)
        new_comments.append({**comment, "author": author, "addressee": addressee})
    for comment in new_comments:
        connection.execute(COMMENTS.insert(), comment)
    return new_comments


def _require_other_experts(connection: Connection, item_ids: list[str]) -> None:
    """Raise DumpError if a person has decided both rounds of an item."""
    rules = item_status.current_rules(connection)
    decided = by_item(events.read(connection, item_ids))
    for item_id in item_ids:
        item = items.read(connection, item_id)
        if item is None or gold.is_gold(connection, item_id):
            continue
        counted = review_state(item, decided[item_id], rules.rules_for(item["kind"])).counted
        first, second = ({each.reviewer for each in counted if each.round == n} for n in (1, 2))
        if both := sorted(first & second):
            raise DumpError(
                f"{both[0]} would have decided item {item_id} in both rounds, and somebody else must "
                "decide round 2: take that decision out of the file."
            )
