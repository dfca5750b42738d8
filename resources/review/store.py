"""The review store as others use it: one class over one SQLite file.

What belongs here: which calls there are, each one transaction, and how far people are. The other
modules of this folder read and write the rows.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from methods.ids import content_id
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import ReviewState, RuleBook
from resources.review import events, item_status, items, locks
from resources.review.file import ReviewFile, sql
from resources.review.items import Filters, ItemSummary, Progress, QueueChanges
from resources.review.locks import Lock
from resources.review.rules import read_rules


class Completion(NamedTuple):
    """One kind: how many items it has, how many of them need a decision, how many decisions.

    `fingerprint` changes with every decision on one of its items, and with its items and contents.
    """

    kind: str
    n_items: int
    n_open: int
    n_decisions: int
    fingerprint: str


def read(connection: sqlite3.Connection) -> list[Completion]:
    """Every kind that has queued items, in order of its name."""
    return [
        Completion(kind, n_items, n_open, n_decisions, content_id(last_event, contents))
        for kind, n_items, n_open, n_decisions, last_event, contents in connection.execute(
            sql("completion")
        )
    ]


RULES_FILE = "review.yaml"
ALL = Filters()


class ReviewStore:
    """The review queue, decisions, locks and drafts; safe among threads and processes.

    Each thread keeps a connection. What a call has stored is on disk when it returns. The rules are
    read from `review.yaml` beside the file when a store is opened, and hold for every process from
    then on. Raises RulesError when they cannot be read.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # First of all: who refuses the rules must not have opened the file.
        rules = read_rules(self.path.with_name(RULES_FILE))
        self._file = ReviewFile(self.path)
        if rules != item_status.current_rules(self._file.connection):
            with self._file.transaction() as connection:
                item_status.set_rules(connection, rules)

    def close(self) -> None:
        """Close this thread's connection; the next call opens another."""
        self._file.close()

    def rules(self) -> RuleBook:
        """The rules that hold now."""
        return item_status.current_rules(self._file.connection)

    def rebuild(self) -> None:
        """Compute the stored status of every item again from the events."""
        with self._file.transaction() as connection:
            item_status.rebuild(connection)

    # --- Items -----------------------------------------------------------------------------------

    def update_queue(
        self, queue: Sequence[QueueItem], kinds: Sequence[str] = tuple(KINDS)
    ) -> QueueChanges:
        """Make `queue`, in its order, the review queue of these kinds.

        An item with a new content needs decisions again. An item of `kinds` that is not in `queue` is
        withdrawn: it is kept and not shown. Items of other kinds stay as they are.
        """
        with self._file.transaction() as connection:
            return items.update_queue(connection, queue, kinds)

    def items(self, kinds: Sequence[str] = tuple(KINDS)) -> list[QueueItem]:
        """The queued items of these kinds, in their order."""
        return items.queued(self._file.connection, kinds)

    def item(self, item_id: str) -> QueueItem | None:
        """The item as it was last queued, withdrawn or not; None for an unknown one."""
        return items.read(self._file.connection, item_id)

    def state(self, item_id: str) -> ReviewState | None:
        """The state of an item after all decisions; `state.item` has the content that the next
        decision is made on, such as the one with the edits of round 1."""
        item = self.item(item_id)
        return None if item is None else item_status.state(self._file.connection, item)

    def page(
        self, filters: Filters = ALL, offset: int = 0, limit: int = 50
    ) -> tuple[list[ItemSummary], int]:
        """One page of the queued items that match the filters, in their order, and how many match."""
        return items.page(self._file.connection, filters, offset, limit)

    def progress(self) -> list[Progress]:
        """How many queued items have which status, by kind."""
        return items.progress(self._file.connection)

    def completion(self) -> list[Completion]:
        """How far people are with each kind that has queued items, in order of its name."""
        return read(self._file.connection)

    def decided(self) -> str:
        """A hash of what people decided: the decisions, the items that they are on, and the rules.

        It is the same whatever is queued, held or typed meanwhile.
        """
        with self._file.snapshot() as connection:
            found = connection.execute(sql("decided")).fetchall()
        return content_id(self.rules().model_dump_json(), *map(list, found))

    # --- Locks and drafts ------------------------------------------------------------------------

    def lock_item(
        self, reviewer: str, role: str, *, kind: str | None = None, item_id: str | None = None
    ) -> Lock | None:
        """Lock an item for LOCK_SECONDS: the one asked for, or the next; None where there is none.

        Annotators get items of round 1 or for rework, experts and admins items of round 2. Nobody gets
        an item that they decided or skipped, that they decided in the other round, that as many others
        have locked as it needs, or that is over their quota for the day. A person who has a lock
        already gets it again, renewed. With `item_id` an annotator may also lock a rejected item.
        """
        with self._file.transaction() as connection:
            return locks.lock_item(connection, reviewer, role, kind, item_id)

    def renew_lock(self, token: str) -> bool:
        """Extend a lock to LOCK_SECONDS from now; False when it has expired or was given back."""
        with self._file.transaction() as connection:
            return locks.renew(connection, token)

    def unlock(self, token: str) -> None:
        """Give the item back undecided; the draft is kept."""
        with self._file.transaction() as connection:
            locks.unlock(connection, token)

    def save_draft(self, token: str, draft: dict[str, Any]) -> None:
        """Store what this person has typed for this content in this round, also when the lock has
        expired meanwhile. Raises LockLost for an unknown token."""
        with self._file.transaction() as connection:
            locks.save_draft(connection, token, draft)

    def draft(self, token: str) -> dict[str, Any] | None:
        """The person's draft for this content and round, saved under this lock or an earlier one."""
        return locks.draft(self._file.connection, token)

    def decide(self, token: str, decision: Decision) -> int:
        """Store the decision on a locked item, and delete the lock and the draft. Returns the event id.

        `decision` comes from `check_decision(record, state.item)`. Raises LockLost when the lock has
        expired, StaleDecision when the item has changed or was decided meanwhile; nothing is stored
        then. The same decision again gives the same event id.
        """
        with self._file.transaction() as connection:
            return locks.decide(connection, token, decision)

    # --- Decisions -------------------------------------------------------------------------------

    def append(self, decisions: Iterable[Decision]) -> tuple[int, int]:
        """Store decisions made outside the app, all or none: (n_added, n_known).

        A decision whose source hash is stored already is left out. Raises sqlite3.IntegrityError, and
        stores nothing, when one breaks the table's rules.
        """
        decisions = list(decisions)
        with self._file.transaction() as connection:
            added = [
                decision
                for decision in decisions
                if events.append(connection, decision) is not None
            ]
            item_status.update(connection, sorted({decision.item_id for decision in added}))
        return len(added), len(decisions) - len(added)

    def decisions(self, item_ids: Iterable[str] | None = None) -> list[Decision]:
        """Decisions in the order they were stored: of these items, or of all."""
        return events.read(self._file.connection, item_ids)

    def visible_decisions(self, item_id: str, reviewer: str, role: str) -> list[Decision]:
        """The item's decisions that this person may see.

        Everybody sees their own, and those of others once round 1 is complete; admins see all.
        """
        with self._file.snapshot() as connection:
            decided = events.read(connection, [item_id])
            item = items.read(connection, item_id)
            if role == "admin":
                return decided
            state = None if item is None else item_status.state(connection, item)
        if state is not None and state.status.name not in ("round_1", "not_sampled"):
            return decided
        return [decision for decision in decided if decision.reviewer == reviewer]
