"""The stored state of batch API requests.

It is in the ledger's file, because a batch may take a day and must outlive the process. The state of an
item is `waiting` (in a batch), `again` (to be submitted again, for example after its batch expired) or
`failed` (until the failure is reported).
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Row,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from resources.llm.ledger.calls import Call, Charge, current_time, pack, request_of
from resources.llm.ledger.calls import insert as add_rows
from resources.llm.ledger.file import BATCH_ITEMS, BATCH_WAITS, BATCHES
from resources.llm.ledger.ledger import Ledger
from resources.llm.request import FailureKind
from resources.stores.inserts import insert_missing

MAX_SUBMISSIONS = 3
"""A request fails after this many batches without an answer."""
ENDS_WITHIN_HOURS = 48
"""A batch must have ended, with all results, this many hours after its submission: twice its
`completion_window`."""
_ITEM = select(BATCH_ITEMS).where(BATCH_ITEMS.c.key == bindparam("of_key"))
_TAKE = text("""
INSERT INTO batch_items (
    key, batch, submissions, state, kind, detail, stage, run, prompt_version, request
)
SELECT CAST(:key AS TEXT), :batch, 1, 'waiting', NULL, NULL, :stage, :run, :prompt_version, :request
WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = :key)
ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, state = 'waiting',
    submissions = batch_items.submissions + 1, stage = excluded.stage, run = excluded.run
WHERE batch_items.state = 'again'
""")


class Batch(NamedTuple):
    """A batch of one model of the registry.

    `remote_id` is None until the provider has given it, `ended_at` until all results are stored.
    `address` is the base URL of the entry when it was submitted.
    """

    batch: str
    model: str
    remote_id: str | None
    status: str
    n_requests: int
    created_at: str
    ended_at: str | None
    address: str | None


class BatchItem(NamedTuple):
    """A request in a batch, made by `run`. `kind` and `detail` describe its last failure."""

    key: str
    batch: str
    submissions: int
    state: str
    kind: FailureKind | None
    detail: str | None
    stage: str
    run: str
    prompt_version: str
    request: dict[str, object]


class FailedRequest(NamedTuple):
    """A batch request without an answer. `again` tells whether it may be submitted again; `charge`
    is its cost, if it was billed.
    """

    key: str
    kind: FailureKind
    detail: str
    again: bool
    charge: Charge | None = None


class BatchState:
    """The batches and their items in a ledger; safe to use from several threads and processes."""

    def __init__(self, ledger: Ledger):
        self._store = ledger._store

    def item(self, key: str) -> BatchItem | None:
        """Return the item of a request; None if it is in no batch and has no failure."""
        with self._store.read() as connection:
            row = connection.execute(_ITEM, {"of_key": key}).first()
        return None if row is None else self._item(row)

    def waiting(self, batch: str) -> dict[str, BatchItem]:
        """Return the waiting items of a batch by key."""
        query = select(BATCH_ITEMS).where(
            BATCH_ITEMS.c.state == "waiting", BATCH_ITEMS.c.batch == batch
        )
        with self._store.read() as connection:
            return {row.key: self._item(row) for row in connection.execute(query)}

    def _item(self, row: Row[Any]) -> BatchItem:
        """Decompress the request of a row. Raises StoreError if it is damaged."""
        return BatchItem._make(row)._replace(request=request_of(row, self._store))

    def batches(self, *, still_open: bool = False) -> list[Batch]:
        """Return all batches, the oldest first; with `still_open` only those that have not ended."""
        query = select(BATCHES).order_by(BATCHES.c.created_at, BATCHES.c.batch)
        if still_open:
            query = query.where(BATCHES.c.ended_at.is_(None))
        with self._store.read() as connection:
            return [Batch(*row) for row in connection.execute(query)]

    def add_batch(
        self, batch: str, model: str, items: Sequence[BatchItem], address: str | None = None
    ) -> set[str]:
        """Add a new batch with items.

        Args:
            batch: The id of the batch.
            model: The model, an entry of models.yaml.
            items: The items.
            address: The base URL of the entry; None for the provider's own address.

        Returns:
            The keys of the items that were put in. Another process has already taken the others.
        """
        with self._store.transaction() as connection:
            own_keys = {item.key for item in items if _take(connection, batch, item)}
            if own_keys:
                new = Batch(
                    *(batch, model, None, "prepared", len(own_keys), current_time(), None, address)
                )
                connection.execute(insert(BATCHES), new._asdict())
        return own_keys

    def wait(self, run: str, batches: Iterable[str]) -> None:
        """Record that a run stops and waits for batches.

        Args:
            run: The run.
            batches: The ids of the batches.
        """
        with self._store.transaction() as connection:
            for batch in batches:
                wait = insert_missing(connection.dialect.name, BATCH_WAITS).values(
                    run=run, batch=batch
                )
                connection.execute(wait)

    def ready_runs(self) -> list[str]:
        """List the waiting runs whose batches have all ended or are overdue: a run that finds a batch
        overdue does not wait for it again.
        """
        run, ended_at = BATCH_WAITS.c.run, BATCHES.c.ended_at
        due = datetime.now(UTC) - timedelta(hours=ENDS_WITHIN_HOURS)
        is_over = or_(ended_at.is_not(None), BATCHES.c.created_at < due.isoformat())
        query = (
            select(run)
            .join(BATCHES, BATCHES.c.batch == BATCH_WAITS.c.batch)
            .group_by(run)
            .having(func.count() == func.sum(case((is_over, 1), else_=0)))
            .order_by(func.max(ended_at), run)
        )
        with self._store.read() as connection:
            return list(connection.execute(query).scalars())

    def is_waiting(self, run: str) -> bool:
        """Whether a run stopped to wait for batches and was not run again."""
        query = select(BATCH_WAITS.c.run).where(BATCH_WAITS.c.run == run).limit(1)
        with self._store.read() as connection:
            return connection.execute(query).first() is not None

    def forget_run(self, run: str) -> None:
        """Forget that a run waits, because it was run again or will not be."""
        with self._store.transaction() as connection:
            connection.execute(delete(BATCH_WAITS).where(BATCH_WAITS.c.run == run))

    def mark_submitted(self, batch: str, remote_id: str) -> None:
        """Record that the provider accepted a batch.

        Args:
            batch: The id of the batch.
            remote_id: The provider's id of the batch.
        """
        with self._store.transaction() as connection:
            change = update(BATCHES).where(BATCHES.c.batch == batch)
            connection.execute(change.values(remote_id=remote_id, status="submitted"))

    def discard_unsent(self, batch: str) -> None:
        """Delete a batch that the provider did not get. Its items may be submitted again."""
        with self._store.transaction() as connection:
            items = update(BATCH_ITEMS).where(BATCH_ITEMS.c.batch == batch)
            fewer = BATCH_ITEMS.c.submissions - 1
            connection.execute(items.values(state="again", submissions=fewer))
            connection.execute(delete(BATCH_WAITS).where(BATCH_WAITS.c.batch == batch))
            connection.execute(delete(BATCHES).where(BATCHES.c.batch == batch))

    def update_status(self, batch: str, status: str) -> None:
        """Record the provider's status of a batch that has not ended.

        Args:
            batch: The id of the batch.
            status: The provider's word for the status.
        """
        with self._store.transaction() as connection:
            change = update(BATCHES).where(BATCHES.c.batch == batch)
            connection.execute(change.values(status=status))

    def store_results(self, batch: str, results: Sequence[Call | FailedRequest]) -> None:
        """Store the answers and failures of a batch in one transaction; a second call changes nothing.

        Args:
            batch: The id of the batch.
            results: The calls and the failed requests.
        """
        with self._store.transaction() as connection:
            for result in results:
                if isinstance(result, FailedRequest):
                    _lose(connection, batch, result)
                    continue
                add_rows(connection, [result])
                connection.execute(delete(BATCH_ITEMS).where(BATCH_ITEMS.c.key == result.key))

    def mark_ended(self, batch: str, status: str, rest: FailedRequest) -> None:
        """Record that a batch has ended.

        If the batch was cancelled, its items and waits are deleted, so no run is resumed.

        Args:
            batch: The id of the batch.
            status: The provider's word for the status.
            rest: The failure of each item that still waits; its key is replaced.
        """
        waiting_keys = self.waiting(batch)
        with self._store.transaction() as connection:
            if status == "cancelled":
                connection.execute(delete(BATCH_ITEMS).where(BATCH_ITEMS.c.batch == batch))
                connection.execute(delete(BATCH_WAITS).where(BATCH_WAITS.c.batch == batch))
            for key in waiting_keys:
                _lose(connection, batch, rest._replace(key=key))
            change = update(BATCHES).where(BATCHES.c.batch == batch)
            connection.execute(change.values(status=status, ended_at=current_time()))

    def delete_reported(self, keys: Iterable[str]) -> None:
        """Delete failed items that were reported or answered live, so that they may be sent again."""
        with self._store.transaction() as connection:
            for key in keys:
                lost = BATCH_ITEMS.c.key == key, BATCH_ITEMS.c.state != "waiting"
                connection.execute(delete(BATCH_ITEMS).where(*lost))

    def delete_all_reported(self, stage: str, kind: FailureKind) -> None:
        """Delete the failed items of a stage and a kind, which were all reported.

        Args:
            stage: The stage.
            kind: The kind of failure.
        """
        with self._store.transaction() as connection:
            of_kind = BATCH_ITEMS.c.stage == stage, BATCH_ITEMS.c.kind == kind
            failed = BATCH_ITEMS.c.state == "failed"
            connection.execute(delete(BATCH_ITEMS).where(*of_kind, failed))


def _take(connection: Connection, batch: str, item: BatchItem) -> bool:
    """Put an item into a batch. Returns False if another process has answered or taken it."""
    return bool(
        connection.execute(
            _TAKE, {**item._asdict(), "batch": batch, "request": pack(item.request)}
        ).rowcount
    )


def _lose(connection: Connection, batch: str, lost: FailedRequest) -> None:
    columns = BATCH_ITEMS.c
    once_more = case((columns.submissions < MAX_SUBMISSIONS, "again"), else_="failed")
    done = connection.execute(
        update(BATCH_ITEMS)
        .where(columns.key == lost.key, columns.batch == batch, columns.state == "waiting")
        .values(kind=lost.kind, detail=lost.detail, state=once_more if lost.again else "failed")
    )
    # The charge is only added once, even if results are stored a second time after a crash.
    if done.rowcount and lost.charge is not None:
        add_rows(connection, [lost.charge])
