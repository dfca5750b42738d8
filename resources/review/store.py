"""The review store: one class for the queue, decisions, locks and comments in a file or a schema."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Concatenate, Literal, ParamSpec, TypeVar

from sqlalchemy import Connection

from methods.ids import content_id
from methods.review.decisions import QueueItem
from methods.review.kinds import KINDS
from resources.files.home import is_writable, rules_path
from resources.review import assignments as assignment_rows
from resources.review import clock, events, fingerprints, item_status, lead, loading, locks, names
from resources.review import comments as comment_rows
from resources.review import gold as gold_rows
from resources.review import items as item_rows
from resources.review import revocations as revocation_rows
from resources.review.credentials import folded_name
from resources.review.items import QueueChanges
from resources.review.rules import read_rules
from resources.review.tables import REVIEW
from resources.stores import open_store
from resources.stores.address import database

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def _method(
    access: Literal["read", "snapshot", "transaction"],
    function: Callable[Concatenate[Connection, Parameters], Result],
) -> Callable[Concatenate["ReviewStore", Parameters], Result]:
    """Make a method of a function; in a `snapshot` all queries see the same moment."""

    @wraps(function)
    def method(
        self: "ReviewStore", *arguments: Parameters.args, **options: Parameters.kwargs
    ) -> Result:
        with getattr(self._store, access)() as connection:
            return function(connection, *arguments, **options)

    return method


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

    rules = _method("read", item_status.current_rules)
    rebuild = _method("transaction", item_status.rebuild)
    time = _method("read", clock.time_of_day)

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
        """
        # Hash before the transaction, since other people's decisions wait until it ends.
        hashed = [(item, content_id(item)) for item in queue]
        with self._store.transaction() as connection:
            locks.delete_old(connection)
            return item_rows.update_queue(connection, hashed, kinds)

    items = _method("read", item_rows.queued)
    item = _method("read", item_rows.read)
    state = _method("snapshot", item_rows.state)
    page = _method("snapshot", item_rows.page)
    progress = _method("read", item_rows.progress)
    decided = _method("snapshot", fingerprints.decided)

    # --- For the lead ----------------------------------------------------------------------------

    overview = _method("snapshot", lead.overview)
    work = _method("read", lead.work)
    holds = _method("read", lead.holds)
    release = _method("transaction", lead.release)
    assignments = _method("read", assignment_rows.current)
    assign = _method("transaction", assignment_rows.assign)
    end_assignment = _method("transaction", assignment_rows.end)
    make_gold = _method("transaction", gold_rows.make)
    gold = _method("read", gold_rows.read)

    def in_calibration(self, reviewer: str) -> bool:
        """Whether the person is in calibration: new annotators only get gold items until they pass."""
        with self._store.snapshot() as connection:
            rules = item_status.current_rules(connection)
            return gold_rows.in_calibration(connection, reviewer, rules)

    # --- Locks and drafts ------------------------------------------------------------------------

    lock_item = _method("transaction", locks.lock_item)
    is_in_work = _method("snapshot", locks.is_in_work)
    why_not = _method("snapshot", locks.no_lock_reason)
    renew_lock = _method("transaction", locks.renew)
    unlock = _method("transaction", locks.unlock)
    save_draft = _method("transaction", locks.save_draft)
    draft = _method("read", locks.draft)
    decide = _method("transaction", locks.decide)

    # --- Decisions, changes of mind and comments -------------------------------------------------

    decisions = _method("snapshot", events.read)
    visible_decisions = _method("snapshot", item_rows.visible_decisions)
    own_decisions = _method("snapshot", events.own)
    has_decided = _method("read", events.has_decided)
    append = _method("transaction", loading.append)
    load = _method("transaction", loading.load)
    last_decision = _method("snapshot", revocation_rows.last_of)
    may_take_back = _method("snapshot", revocation_rows.may_take_back)
    take_back = _method("transaction", revocation_rows.take_back)
    reopen = _method("transaction", revocation_rows.reopen)
    revocations = _method("read", revocation_rows.read)
    comment = _method("transaction", comment_rows.add)
    comments = _method("read", comment_rows.read)
    visible_comments = _method("snapshot", comment_rows.visible)
