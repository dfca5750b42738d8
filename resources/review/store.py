"""The review store as others use it: one class over one file or schema."""

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
from resources.files.home import is_writable
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
from resources.review.clock import now, time_of_day
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
RULES_FILE = "review.yaml"
ALL = Filters()


class ReviewStore:
    """The review queue, decisions, locks and drafts; safe among threads and processes.

    What a call has stored is on disk when it returns. The rules are
    read from `review.yaml` beside the file when a store is opened, and hold for every process from
    then on; of a database that machines share, one without that file leaves the rules as they are.
    Raises RulesError when they cannot be read.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # First of all: who refuses the rules must not have opened the file.
        rules_path = self.path.with_name(RULES_FILE)
        rules = read_rules(rules_path)
        self._store = open_store(REVIEW, self.path)
        if database() is None and not is_writable(self.path):
            return  # Who only reads sees the rules that the store has.
        own_rules = rules_path.exists() or database() is None
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
        """Close the connections that nobody uses; the next call opens others."""
        self._store.close()

    def rules(self) -> RuleBook:
        """The rules that hold now."""
        with self._store.read() as connection:
            return item_status.current_rules(connection)

    def rebuild(self) -> None:
        """Compute the stored status of every item again from the events."""
        with self._store.transaction() as connection:
            item_status.rebuild(connection)

    # --- Items -----------------------------------------------------------------------------------

    def update_queue(
        self, queue: Sequence[QueueItem], kinds: Sequence[str] = tuple(KINDS)
    ) -> QueueChanges:
        """Make `queue`, in its order, the review queue of these kinds.

        An item with a new content needs decisions again. An item of `kinds` that is not in `queue` is
        withdrawn: it is kept and not shown. Items of other kinds stay as they are.
        """
        # Before the transaction: people who decide wait for its end.
        hashed = [(item, content_id(item)) for item in queue]
        with self._store.transaction() as connection:
            locks.delete_old(connection)
            return items.update_queue(connection, hashed, kinds)

    def items(self, kinds: Sequence[str] = tuple(KINDS)) -> list[QueueItem]:
        """The queued items of these kinds, in their order."""
        with self._store.read() as connection:
            return items.queued(connection, kinds)

    def item(self, item_id: str) -> QueueItem | None:
        """The item as it was last queued, withdrawn or not; None for an unknown one."""
        with self._store.read() as connection:
            return items.read(connection, item_id)

    def state(self, item_id: str) -> ReviewState | None:
        """The state of an item after all decisions; `state.item` has the content that the next
        decision is made on, such as the one with the edits of round 1."""
        with self._store.snapshot() as connection:
            item = items.read(connection, item_id)
            return None if item is None else item_status.state(connection, item)

    def page(
        self, filters: Filters = ALL, offset: int = 0, limit: int = 50
    ) -> tuple[list[ItemSummary], int]:
        """One page of the queued items that match the filters, in their order, and how many match: of a
        text, at most `counted_of`."""
        with self._store.snapshot() as connection:
            return items.page(connection, filters, offset, limit)

    def progress(self) -> list[StatusCount]:
        """How many queued items have which status, by kind."""
        with self._store.read() as connection:
            return items.progress(connection)

    def completion(self) -> list[ReviewFingerprint]:
        """How far people are with each kind that has queued items, in order of its name."""
        with self._store.snapshot() as connection:
            return fingerprints.completion(connection)

    def decided(self) -> str:
        """A hash of what people decided: the decisions, the items that they are on, and the rules.

        It is the same whatever is queued, held or typed meanwhile.
        """
        with self._store.snapshot() as connection:
            return fingerprints.decided(connection)

    # --- For the lead ----------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Figures of the whole review: people, agreement, disputes, when it will be done."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return lead.overview(connection, rules, time_of_day(connection).date())

    def outlook(self) -> ReviewOutlook:
        """What is still to be done, without the figures of people and their agreement."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return lead.outlook(connection, rules, time_of_day(connection).date())

    def work(self) -> list[DecisionEffort]:
        """Every decision without its texts, in the order they were stored."""
        with self._store.read() as connection:
            return lead.work(connection)

    def holds(self) -> list[LockedItem]:
        """Every item that somebody has locked; first those of whom nothing was heard for longest."""
        with self._store.read() as connection:
            return lead.holds(connection)

    def release(self, item_id: str, annotator: str) -> bool:
        """End a person's hold on an item, and keep the draft; False where there is no such hold."""
        with self._store.transaction() as connection:
            return lead.release(connection, item_id, annotator)

    def assignments(self) -> list[ActiveAssignment]:
        """The assignments that have not ended, with their progress, in the order they were made."""
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
        """Keep `share` of the items of a kind and a bucket for a person, in the round of their role.

        Shares of the same items follow each other. `share` is above 0 and at most 1, `bucket` from 1 to
        BUCKETS. Items that are queued later are assigned as well.
        """
        with self._store.transaction() as connection:
            round = ROUND_OF_ROLE[role]
            assignments.assign(
                connection, annotator, round, kind, bucket, share, made_by, now(connection)
            )

    def end_assignment(self, assignment_id: int, made_by: str) -> bool:
        """End an assignment: what is left of it is anybody's again; False where there is none."""
        with self._store.transaction() as connection:
            return assignments.end(connection, assignment_id, made_by, now(connection))

    def make_gold(self, n_items: int, made_by: str) -> int:
        """Make gold of the last `n_items` items that experts decided; returns how many that were."""
        with self._store.transaction() as connection:
            rules = item_status.current_rules(connection)
            return gold.make(connection, n_items, rules, made_by, now(connection))

    def gold(self) -> list[dict[str, Any]]:
        """The rows of gold items: item_id, of_item, expected (JSON), made_by, made_at."""
        with self._store.read() as connection:
            return gold.read(connection)

    def in_calibration(self, reviewer: str) -> bool:
        """Whether the person is given gold items alone, which a new annotator must pass."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return gold.in_calibration(connection, reviewer, rules)

    def changes(self) -> tuple[int, str]:
        """What figures follow from: a number that grows with every decision and with every one that is
        taken back, and a hash of the rest: items, gold, rules, names."""
        with self._store.snapshot() as connection:
            return fingerprints.changes(connection)

    def time(self) -> datetime:
        """The time of a decision that is made now, in UTC: the same on every machine."""
        with self._store.read() as connection:
            return time_of_day(connection)

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
        with self._store.transaction() as connection:
            return locks.lock_item(connection, reviewer, role, kind, item_id)

    def why_not(self, reviewer: str, role: str, item_id: str) -> WhyNot:
        """Why `lock_item` gives the person no lock on this item."""
        with self._store.snapshot() as connection:
            return locks.no_lock_reason(connection, reviewer, role, item_id)

    def renew_lock(self, claim: LockClaim) -> bool:
        """Extend a lock to LOCK_SECONDS from now; False when it has expired, was given back, or is
        somebody else's."""
        with self._store.transaction() as connection:
            return locks.renew(connection, claim)

    def unlock(self, claim: LockClaim) -> None:
        """Give the item back undecided; the draft is kept."""
        with self._store.transaction() as connection:
            locks.unlock(connection, claim)

    def save_draft(
        self, claim: LockClaim, draft: dict[str, Any], based_on: str | None = ANY_DRAFT
    ) -> str:
        """Store what this person has typed for this content in this round, also when the lock has
        expired meanwhile. Returns the draft's version.

        Raises LockLost for an unknown lock, DraftConflict when the stored draft has another version
        than `based_on` (None: there was none).
        """
        with self._store.transaction() as connection:
            return locks.save_draft(connection, claim, draft, based_on)

    def draft(self, claim: LockClaim) -> dict[str, Any] | None:
        """The person's draft for this content and round, saved under this lock or an earlier one."""
        return self.draft_and_version(claim)[0]

    def draft_and_version(self, claim: LockClaim) -> tuple[dict[str, Any] | None, str | None]:
        """The draft and its version; None and None where there is none."""
        with self._store.read() as connection:
            return locks.draft(connection, claim)

    def decide(self, token: str, decision: Decision, based_on: str | None = ANY_DRAFT) -> int:
        """Store the decision on a locked item, and delete the lock and the draft. Returns the event id.

        `decision` comes from `check_decision(record, state.item)`. Raises LockLost when the lock has
        expired, StaleDecision when the item has changed or was decided meanwhile, DraftConflict as
        `save_draft` does; nothing is stored then. The same decision again gives the same event id.
        """
        with self._store.transaction() as connection:
            return locks.decide(connection, token, decision, based_on)

    # --- Changes of mind -------------------------------------------------------------------------

    def last_decision(self, reviewer: str) -> Decision | None:
        """The person's last decision if they may take it back, else None."""
        with self._store.read() as connection:
            return revocations.last_of(connection, reviewer)

    def take_back(self, item_id: str, event_id: int, reviewer: str) -> Decision:
        """Take back one's own decision on the item, which becomes one's draft. Raises RevocationError
        when somebody has decided on it since, or in the same round.
        """
        with self._store.transaction() as connection:
            return revocations.take_back(connection, item_id, event_id, reviewer)

    def reopen(self, item_id: str, person: str, round: int, reason: str) -> None:
        """End all decisions on an item (round 1), or the expert's in force (round 2), for a reason.

        Raises RevocationError.
        """
        with self._store.transaction() as connection:
            revocations.reopen(connection, item_id, person, round, reason)

    def revocations(self, item_id: str | None = None) -> dict[int, Revocation]:
        """Which decisions on an item, or on all, were taken back, and by whom, by event id."""
        with self._store.read() as connection:
            return revocations.read(connection, item_id)

    # --- Comments --------------------------------------------------------------------------------

    def comment(
        self, item_id: str, author: str, text: str, addressee: str | None = None
    ) -> Comment:
        """Write a comment on an item, to one person or to everybody who may read it."""
        with self._store.transaction() as connection:
            return comments.add(connection, item_id, author, text, addressee)

    def comments(self, item_id: str | None = None) -> list[Comment]:
        """The comments on an item, or on all, in the order they were written."""
        with self._store.read() as connection:
            return comments.read(connection, item_id)

    def visible_comments(self, item_id: str, reader: str, role: str) -> list[Comment]:
        """The item's comments that this person may see: as blind as the decisions are."""
        with self._store.snapshot() as connection:
            item = items.read(connection, item_id)
            state = None if item is None else item_status.state(connection, item)
            return comments.visible(connection, item_id, reader, role, state)

    # --- Decisions -------------------------------------------------------------------------------

    def append(self, decisions: Iterable[Decision]) -> tuple[int, int]:
        """Store decisions made outside the app, all or none: (n_added, n_known).

        A decision whose source hash is stored already is left out. Raises IntegrityError of SQLAlchemy,
        and stores nothing, when one breaks the table's rules.
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
        """Store decisions with their ends, comments and gold items of another store: (decisions and
        comments that were added, rows that were known). All or none; what is there already is left as
        it is."""
        with self._store.transaction() as connection:
            return loading.load(connection, decided, written, golden)

    def event_of(self, decision: Decision) -> int | None:
        """The id of the same decision in this store, whatever its person is called now; else None."""
        with self._store.read() as connection:
            return events.same_decision(connection, decision)

    def has_decided(self, reviewer: str) -> bool:
        """Whether the person has decided or skipped anything."""
        with self._store.read() as connection:
            return connection.execute(_HAS_DECIDED, {"reviewer": reviewer}).first() is not None

    def decisions(
        self, item_ids: Iterable[str] | None = None, *, revoked: bool = False
    ) -> list[Decision]:
        """Decisions in the order they were stored: of these items, or of all. Those that were taken
        back are left out, unless `revoked`."""
        with self._store.snapshot() as connection:
            return events.read(connection, item_ids, revoked=revoked)

    def visible_decisions(
        self, item_id: str, reviewer: str, role: str, *, revoked: bool = False
    ) -> list[Decision]:
        """The item's decisions that this person may see; with `revoked` those taken back, too.

        Everybody sees their own, and those of others once round 1 is complete; admins see all.
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
