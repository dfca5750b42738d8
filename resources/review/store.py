"""The review store: one class for the queue, decisions, locks and comments in a file or a schema."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import text

from methods.ids import content_id
from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.overview import DecisionEffort
from methods.review.process import ROUND_OF_ROLE, ReviewState, RuleBook
from resources.files.home import is_writable, rules_path
from resources.review import (
    assignments,
    comments,
    events,
    fingerprints,
    gold,
    item_status,
    items,
    lead,
    loading,
    locks,
    names,
    revocations,
)
from resources.review.assignments import ActiveAssignment
from resources.review.clock import database_time, time_of_day
from resources.review.comments import Comment
from resources.review.credentials import folded_name
from resources.review.fingerprints import ReviewFingerprint
from resources.review.gold import NewGold
from resources.review.items import Filters, ItemSummary, QueueChanges, StatusCount
from resources.review.lead import LockedItem, Overview, ReviewOutlook
from resources.review.loading import Ended
from resources.review.locks import ANY_DRAFT, Lock, LockClaim, WhyNot
from resources.review.revocations import Revocation
from resources.review.rules import read_rules
from resources.review.tables import REVIEW
from resources.stores import open_store
from resources.stores.address import database

_HAS_DECIDED = text("SELECT 1 FROM in_force WHERE reviewer = :reviewer LIMIT 1")
ALL = Filters()


class ReviewStore:
    """The review queue, decisions, locks and drafts; safe among threads and processes.

    A call returns after its changes are on disk. Opening a store reads the rules from `review.yaml`
    next to the file and stores them for all processes. In a database that machines share, a machine
    without this file keeps the stored rules. Raises RulesError if the file cannot be read.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # Before the store is opened: invalid rules must not create the file.
        rules_file = self.path.with_name(rules_path().name)
        rules = read_rules(rules_file)
        self._store = open_store(REVIEW, self.path)
        if database() is None and not is_writable(self.path):
            return  # Read-only access uses the stored rules.
        own_rules = rules_file.exists() or database() is None
        with self._store.read() as connection:
            outdated = own_rules and not item_status.follows_rules(connection, rules)
            spelled = bool(names.spellings(connection, folded_name))
        if outdated:
            with self._store.transaction() as connection:
                item_status.set_rules(connection, rules)
        if spelled:
            with self._store.transaction() as connection:
                names.unite(connection, folded_name)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self._store.close()

    def rules(self) -> RuleBook:
        """Return the current rules."""
        with self._store.read() as connection:
            return item_status.current_rules(connection)

    def rebuild(self) -> None:
        """Recompute the stored status of every item from the events."""
        with self._store.transaction() as connection:
            item_status.rebuild(connection)

    # --- Items -----------------------------------------------------------------------------------

    def update_queue(
        self, queue: Sequence[QueueItem], kinds: Sequence[str] = tuple(KINDS)
    ) -> QueueChanges:
        """Replace the review queue of some kinds.

        An item with new content needs new decisions. An item of these kinds that is not in `queue` is
        withdrawn: it stays stored, but is not displayed. Items of other kinds do not change.

        Args:
            queue: The items in order.
            kinds: The kinds to replace.

        Returns:
            The changes.
        """
        # Hash before the transaction, since other people's decisions wait until it ends.
        hashed = [(item, content_id(item)) for item in queue]
        with self._store.transaction() as connection:
            locks.delete_old(connection)
            return items.update_queue(connection, hashed, kinds)

    def items(self, kinds: Sequence[str] = tuple(KINDS)) -> list[QueueItem]:
        """Return the queued items of these kinds, in the order of the queue."""
        with self._store.read() as connection:
            return items.queued(connection, kinds)

    def item(self, item_id: str) -> QueueItem | None:
        """Return the item as it was last queued, withdrawn or not; None for an unknown id."""
        with self._store.read() as connection:
            return items.read(connection, item_id)

    def state(self, item_id: str) -> ReviewState | None:
        """Return the state of an item after all decisions; None for an unknown id. `state.item` has the
        content for the next decision, for example with the edits of round 1."""
        with self._store.snapshot() as connection:
            item = items.read(connection, item_id)
            return None if item is None else item_status.state(connection, item)

    def page(
        self, filters: Filters = ALL, offset: int = 0, limit: int = 50
    ) -> tuple[list[ItemSummary], int]:
        """Read one page of the queued items that match the filters.

        Args:
            filters: The filters.
            offset: The number of matching items before the page.
            limit: The maximum number of items of the page.

        Returns:
            The items, and the number of matching items; with a text filter at most `counted_of`.
        """
        with self._store.snapshot() as connection:
            return items.page(connection, filters, offset, limit)

    def progress(self) -> list[StatusCount]:
        """Count queued items by kind and status."""
        with self._store.read() as connection:
            return items.progress(connection)

    def completion(self) -> list[ReviewFingerprint]:
        """Return the progress of each kind that has queued items, sorted by kind."""
        with self._store.snapshot() as connection:
            return fingerprints.completion(connection)

    def decided(self) -> str:
        """Return a hash of the decisions, the decided items and the rules.

        It does not depend on other queued items, locks or drafts.
        """
        with self._store.snapshot() as connection:
            return fingerprints.decided(connection)

    # --- For the lead ----------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Return the figures of the review: people, agreement, disputes, and a forecast of its end."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return lead.overview(connection, rules, time_of_day(connection).date())

    def outlook(self) -> ReviewOutlook:
        """Return the remaining work, without the figures of people and their agreement."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return lead.outlook(connection, rules, time_of_day(connection).date())

    def work(self) -> list[DecisionEffort]:
        """Return every decision without its texts, in the order they were stored."""
        with self._store.read() as connection:
            return lead.work(connection)

    def holds(self) -> list[LockedItem]:
        """Return all locked items, the longest inactive lock first."""
        with self._store.read() as connection:
            return lead.holds(connection)

    def release(self, item_id: str, annotator: str) -> bool:
        """End a person's lock on an item and keep the draft.

        Args:
            item_id: The item.
            annotator: The person.

        Returns:
            False if there is no such lock.
        """
        with self._store.transaction() as connection:
            return lead.release(connection, item_id, annotator)

    def assignments(self) -> list[ActiveAssignment]:
        """Return active assignments with their progress, in the order they were made."""
        with self._store.read() as connection:
            return assignments.current(connection)

    def assign(
        self,
        annotator: str,
        role: str,
        made_by: str,
        *,
        kind: str | None = None,
        bucket: int | None = None,
        share: float = 1.0,
    ) -> None:
        """Assign a share of items to a person, in the round of their role.

        Each share starts where the previous share of the same items ends. Items that are queued later
        are assigned, too.

        Args:
            annotator: The person.
            role: Their role.
            made_by: The person who assigns.
            kind: The kind of items; None for all kinds.
            bucket: The bucket, 1 to BUCKETS; None for all.
            share: The share, above 0 and at most 1.
        """
        with self._store.transaction() as connection:
            round = ROUND_OF_ROLE[role]
            assignments.assign(
                connection,
                annotator,
                round,
                kind,
                bucket,
                share,
                made_by,
                database_time(connection),
            )

    def end_assignment(self, assignment_id: int, made_by: str) -> bool:
        """End an assignment; its open items are available to everybody again.

        Args:
            assignment_id: The assignment.
            made_by: The person who ends it.

        Returns:
            False if there is no such assignment.
        """
        with self._store.transaction() as connection:
            return assignments.end(connection, assignment_id, made_by, database_time(connection))

    def make_gold(self, n_items: int, made_by: str) -> int:
        """Make gold items from the latest items that experts decided.

        Args:
            n_items: The maximum number of gold items to make.
            made_by: The person who makes them.

        Returns:
            The number of gold items that were made.
        """
        with self._store.transaction() as connection:
            rules = item_status.current_rules(connection)
            return gold.make(connection, n_items, rules, made_by, database_time(connection))

    def gold(self) -> list[dict[str, Any]]:
        """Return the rows of gold items: item_id, of_item, expected (JSON), made_by, made_at."""
        with self._store.read() as connection:
            return gold.read(connection)

    def in_calibration(self, reviewer: str) -> bool:
        """Whether the person is in calibration: new annotators only get gold items until they pass."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return gold.in_calibration(connection, reviewer, rules)

    def changes(self) -> tuple[int, str]:
        """Return the version of the data behind all figures.

        Returns:
            A number that grows with every decision and every revocation, and a hash of items, gold
            items, rules and names.
        """
        with self._store.snapshot() as connection:
            return fingerprints.changes(connection)

    def time(self) -> datetime:
        """Return the current time in UTC by the store's clock, which is the same on every machine."""
        with self._store.read() as connection:
            return time_of_day(connection)

    # --- Locks and drafts ------------------------------------------------------------------------

    def lock_item(
        self, reviewer: str, role: str, *, kind: str | None = None, item_id: str | None = None
    ) -> Lock | None:
        """Lock an item for LOCK_SECONDS: the given one, or the next one.

        Annotators get items of round 1 or for rework, experts and admins get items of round 2. An item
        is not available if the person decided or skipped it, decided it in the other round, or has
        reached the daily quota, or if as many people have locked it as it needs. A person who already
        has a lock gets it again, renewed. With `item_id` an annotator may also lock a rejected item.

        Args:
            reviewer: The person.
            role: Their role.
            kind: The kind of item; None for any.
            item_id: The item; None for the next one.

        Returns:
            The lock; None if no item is available.
        """
        with self._store.transaction() as connection:
            return locks.lock_item(connection, reviewer, role, kind, item_id)

    def why_not(self, reviewer: str, role: str, item_id: str) -> WhyNot:
        """Explain why `lock_item` gives a person no lock on an item.

        Args:
            reviewer: The person.
            role: Their role.
            item_id: The item.

        Returns:
            The reason.
        """
        with self._store.snapshot() as connection:
            return locks.no_lock_reason(connection, reviewer, role, item_id)

    def renew_lock(self, claim: LockClaim) -> bool:
        """Extend a lock to LOCK_SECONDS from now; False if it has ended or is somebody else's."""
        with self._store.transaction() as connection:
            return locks.renew(connection, claim)

    def unlock(self, claim: LockClaim) -> None:
        """Release a lock without a decision; the draft is kept."""
        with self._store.transaction() as connection:
            locks.unlock(connection, claim)

    def save_draft(
        self, claim: LockClaim, draft: dict[str, Any], based_on: str | None = ANY_DRAFT
    ) -> str:
        """Store a person's draft for a locked content, also after the lock expired.

        Args:
            claim: The claim to the lock.
            draft: The draft.
            based_on: The version of the stored draft that it replaces, or None.

        Returns:
            The version of the draft.

        Raises:
            LockLost: The lock is unknown.
            DraftConflict: The stored draft has another version.
        """
        with self._store.transaction() as connection:
            return locks.save_draft(connection, claim, draft, based_on)

    def draft(self, claim: LockClaim) -> dict[str, Any] | None:
        """Return the person's draft for this content and round, also if saved under an earlier lock."""
        return self.draft_and_version(claim)[0]

    def draft_and_version(self, claim: LockClaim) -> tuple[dict[str, Any] | None, str | None]:
        """Return the draft of a lock and its version; None and None if there is no draft."""
        with self._store.read() as connection:
            return locks.draft(connection, claim)

    def decide(self, token: str, decision: Decision, based_on: str | None = ANY_DRAFT) -> int:
        """Store a decision on a locked item, and delete the lock and the draft.

        If the same decision is stored already, its event id is returned.

        Args:
            token: The token of the lock.
            decision: The decision, from `check_decision(record, state.item)`.
            based_on: The version of the draft that it is based on.

        Returns:
            The event id.

        Raises:
            LockLost: The lock has expired. Nothing is stored.
            StaleDecision: The item changed, or was decided by somebody else. Nothing is stored.
            DraftConflict: The stored draft has another version. Nothing is stored.
        """
        with self._store.transaction() as connection:
            return locks.decide(connection, token, decision, based_on)

    # --- Changes of mind -------------------------------------------------------------------------

    def last_decision(self, reviewer: str) -> Decision | None:
        """Return the person's last decision if they may take it back, else None."""
        with self._store.read() as connection:
            return revocations.last_of(connection, reviewer)

    def take_back(self, item_id: str, event_id: int, reviewer: str) -> Decision:
        """Take back one's own decision on an item; it becomes a draft.

        Args:
            item_id: The item.
            event_id: The event id of the decision.
            reviewer: The person.

        Returns:
            The decision.

        Raises:
            RevocationError: Somebody decided on the item since then, or in the same round.
        """
        with self._store.transaction() as connection:
            return revocations.take_back(connection, item_id, event_id, reviewer)

    def reopen(self, item_id: str, person: str, round: int, reason: str) -> None:
        """Revoke all decisions on an item (round 1), or the valid decision of the expert (round 2).

        Args:
            item_id: The item.
            person: The person who reopens it.
            round: The round.
            reason: The reason.

        Raises:
            RevocationError: There is no such decision.
        """
        with self._store.transaction() as connection:
            revocations.reopen(connection, item_id, person, round, reason)

    def revocations(self, item_id: str | None = None) -> dict[int, Revocation]:
        """Return the revocations of decisions on an item, or of all, by event id."""
        with self._store.read() as connection:
            return revocations.read(connection, item_id)

    # --- Comments --------------------------------------------------------------------------------

    def comment(
        self, item_id: str, author: str, text: str, addressee: str | None = None
    ) -> Comment:
        """Write a comment on an item.

        Args:
            item_id: The item.
            author: The person who writes.
            text: The text.
            addressee: The person it is for; None for everybody who may read it.

        Returns:
            The comment.
        """
        with self._store.transaction() as connection:
            return comments.add(connection, item_id, author, text, addressee)

    def comments(self, item_id: str | None = None) -> list[Comment]:
        """Return the comments on an item, or on all items, in the order they were written."""
        with self._store.read() as connection:
            return comments.read(connection, item_id)

    def visible_comments(self, item_id: str, reader: str, role: str) -> list[Comment]:
        """Return the comments on an item that a person may see, by the same rules as for decisions.

        Args:
            item_id: The item.
            reader: The person.
            role: Their role.

        Returns:
            The comments.
        """
        with self._store.snapshot() as connection:
            item = items.read(connection, item_id)
            state = None if item is None else item_status.state(connection, item)
            return comments.visible(connection, item_id, reader, role, state)

    # --- Decisions -------------------------------------------------------------------------------

    def append(self, decisions: Iterable[Decision]) -> tuple[int, int]:
        """Store decisions made outside the app, all or none; return (n_added, n_known).

        A decision whose source hash is stored already counts as known. If a decision violates a
        constraint of the table, raises SQLAlchemy's IntegrityError and stores nothing.
        """
        decisions = list(decisions)
        with self._store.transaction() as connection:
            added = [
                decision
                for decision in decisions
                if events.append(connection, decision) is not None
            ]
            item_status.update(connection, sorted({decision.item_id for decision in added}))
        return len(added), len(decisions) - len(added)

    def load(
        self,
        decided: Iterable[tuple[Decision, Ended | None]],
        written: Iterable[dict[str, Any]],
        golden: Iterable[NewGold] = (),
    ) -> tuple[int, int, int]:
        """Store the decisions, comments and gold items of another store in one transaction.

        Existing rows do not change.

        Args:
            decided: The decisions, each with its revocation or None.
            written: The comments.
            golden: The gold items.

        Returns:
            The numbers of new decisions, of new comments, and of known rows.
        """
        with self._store.transaction() as connection:
            return loading.load(connection, decided, written, golden)

    def event_of(self, decision: Decision) -> int | None:
        """Return the event id of the same decision, even if its person was renamed; None if unknown."""
        with self._store.read() as connection:
            return events.same_decision(connection, decision)

    def has_decided(self, reviewer: str) -> bool:
        """Whether the person has decided or skipped anything."""
        with self._store.read() as connection:
            return connection.execute(_HAS_DECIDED, {"reviewer": reviewer}).first() is not None

    def decisions(
        self, item_ids: Iterable[str] | None = None, *, revoked: bool = False
    ) -> list[Decision]:
        """Return decisions in the order in which they were stored.

        Args:
            item_ids: The items; None for all.
            revoked: Whether to include revoked decisions.

        Returns:
            The decisions.
        """
        with self._store.snapshot() as connection:
            return events.read(connection, item_ids, revoked=revoked)

    def visible_decisions(
        self, item_id: str, reviewer: str, role: str, *, revoked: bool = False
    ) -> list[Decision]:
        """Return the decisions on an item that a person may see.

        People see their own decisions, and those of others once round 1 is complete. Admins see all.

        Args:
            item_id: The item.
            reviewer: The person.
            role: Their role.
            revoked: Whether to include revoked decisions.

        Returns:
            The decisions.
        """
        with self._store.snapshot() as connection:
            decided = events.read(connection, [item_id], revoked=revoked)
            item = items.read(connection, item_id)
            if role == "admin":
                return decided
            state = None if item is None else item_status.state(connection, item)
        if state is not None and not state.is_blind:
            return decided
        return [decision for decision in decided if decision.reviewer == reviewer]
