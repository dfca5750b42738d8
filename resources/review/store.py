"""The review store as others see it: one class over one SQLite file.

What belongs here: what each call does as one transaction. The rows are the other modules'.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from methods.review.decisions import Decision, QueueItem
from methods.review.kinds import KINDS
from methods.review.process import Course, RuleBook
from resources.review import buckets, claims, events, items, standings
from resources.review.buckets import Bucket
from resources.review.claims import Claim
from resources.review.file import ReviewFile
from resources.review.items import Filters, Offered, Progress, Summary
from resources.review.rules import read_rules

RULES_FILE = "review.yaml"
ALL = Filters()


class ReviewStore:
    """Offered items, decisions and who works on what; safe among threads and processes.

    Each thread keeps a connection. What a call has stored is on disk when it returns. The rules are
    read from `review.yaml` beside the file when a store is opened, and hold for every process from
    then on. Raises RulesError when they cannot be read.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._file = ReviewFile(self.path)
        rules = read_rules(self.path.with_name(RULES_FILE))
        if rules != standings.rules_of(self._file.connection):
            with self._file.transaction() as connection:
                standings.follow(connection, rules)

    def close(self) -> None:
        """Close this thread's connection; the next call opens another."""
        self._file.close()

    def rules(self) -> RuleBook:
        """The rules that hold now."""
        return standings.rules_of(self._file.connection)

    def rebuild(self) -> None:
        """Make what is kept of each item's standing anew from the events."""
        with self._file.transaction() as connection:
            standings.rebuild(connection)

    # --- Items -----------------------------------------------------------------------------------

    def offer(self, queue: Sequence[QueueItem], kinds: Sequence[str] = tuple(KINDS)) -> Offered:
        """Make `queue`, in its order, what people see of these kinds.

        Items with another content are awaited again; items of `kinds` that are not in it are
        withdrawn: kept and not shown. Items of other kinds stay as they are.
        """
        with self._file.transaction() as connection:
            return items.offer(connection, queue, kinds)

    def items(self, kinds: Sequence[str] = tuple(KINDS)) -> list[QueueItem]:
        """The items of these kinds that people see now, in their order."""
        return items.offered(self._file.connection, kinds)

    def item(self, item_id: str) -> QueueItem | None:
        """The item as it was last offered, withdrawn or not; None when it never was."""
        return items.read(self._file.connection, item_id)

    def course(self, item_id: str) -> Course | None:
        """Where decisions have brought the item: `course.item` has the content that the next decision
        is made on (after the edits of round 1, say), `course.stage` what it awaits."""
        item = self.item(item_id)
        return None if item is None else standings.course(self._file.connection, item)

    def page(
        self, filters: Filters = ALL, offset: int = 0, limit: int = 50
    ) -> tuple[list[Summary], int]:
        """One page of the offered items that pass the filters, in their order, and how many pass."""
        return items.page(self._file.connection, filters, offset, limit)

    def progress(self) -> list[Progress]:
        """How many offered items stand where, by kind and status."""
        return items.progress(self._file.connection)

    def buckets(self) -> list[Bucket]:
        """How far each bucket that has offered items is, in order of its key."""
        return buckets.read(self._file.connection)

    # --- Work ------------------------------------------------------------------------------------

    def claim(
        self, annotator: str, role: str, *, kind: str | None = None, item_id: str | None = None
    ) -> Claim | None:
        """The right to decide an item, for LOCK_SECONDS: of the one asked for, or the next; or None.

        Annotators get what awaits round 1 or rework, experts and admins what awaits round 2; nobody
        gets what they have decided or skipped, or whose other round they did, or what as many others
        hold as it needs, or more in a day than the quota. A claim that one has already is given again,
        with its time anew. With `item_id` an annotator may also take up what is rejected.
        """
        with self._file.transaction() as connection:
            return claims.claim(connection, annotator, role, kind, item_id)

    def renew(self, token: str) -> bool:
        """Hold a claim for LOCK_SECONDS from now; False when it has expired or was let go."""
        with self._file.transaction() as connection:
            return claims.renew(connection, token)

    def let_go(self, token: str) -> None:
        """Give the item back undecided; the draft is kept."""
        with self._file.transaction() as connection:
            claims.let_go(connection, token)

    def save_draft(self, token: str, draft: dict[str, Any]) -> None:
        """Keep what this person has begun on this content in this round, also when the claim has
        expired meanwhile. Raises LockLost for a token that is not known."""
        with self._file.transaction() as connection:
            claims.save_draft(connection, token, draft)

    def draft(self, token: str) -> dict[str, Any] | None:
        """What this person saved on this content in this round, under this claim or an earlier one."""
        return claims.draft(self._file.connection, token)

    def decide(self, token: str, decision: Decision) -> int:
        """Store what the claim was for; the claim and its draft go. Returns the event id.

        `decision` comes from `check_decision(record, course.item)`. Raises LockLost when the claim no
        longer holds, StaleDecision when the item has changed or was decided meanwhile; nothing is
        stored then. The same decision again gives the same event id.
        """
        with self._file.transaction() as connection:
            return claims.decide(connection, token, decision)

    # --- Decisions -------------------------------------------------------------------------------

    def append(self, decisions: Iterable[Decision]) -> tuple[int, int]:
        """Store decisions made elsewhere, all or none: (n_added, n_known).

        A decision known by its source hash is left as it is. Raises sqlite3.IntegrityError, and
        stores none of them, when one breaks the table's rules.
        """
        decisions = list(decisions)
        with self._file.transaction() as connection:
            added = [each for each in decisions if events.append(connection, each) is not None]
            standings.make(connection, sorted({each.item_id for each in added}))
        return len(added), len(decisions) - len(added)

    def decisions(self, item_ids: Iterable[str] | None = None) -> list[Decision]:
        """Decisions in the order they were stored: of these items, or of all."""
        return events.read(self._file.connection, item_ids)

    def visible_to(self, item_id: str, annotator: str, role: str) -> list[Decision]:
        """The item's decisions that this person may see: their own, and the others' once round 1 is
        complete, whoever they are; admins, who look after the work, see all at any time."""
        with self._file.snapshot() as connection:
            decided = events.read(connection, [item_id])
            item = items.read(connection, item_id)
            if role == "admin":
                return decided
            course = None if item is None else standings.course(connection, item)
        if course is not None and course.stage.status not in ("round_1", "not_sampled"):
            return decided
        return [each for each in decided if each.reviewer == annotator]
