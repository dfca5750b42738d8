"""What the ledger knows of requests on their way through batches.

Kept in the ledger's file, so that it outlives every process: a batch may take a day. An item is
`waiting` in a batch, to be asked `again` after one that expired, or `failed` for good until that is
told. What belongs here: those rows. Talking to a provider is `batches.py`.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from resources.llm.ledger.calls import Call, Charge, insert, now, pack, unpack
from resources.llm.ledger.ledger import Ledger
from resources.llm.request import FailureKind
from resources.sqlite_connection import NamedConnection

MAX_SUBMISSIONS = 3
"""Batches a request goes through before it counts as lost."""


class Batch(NamedTuple):
    """A batch of one model of the registry.

    `remote_id` is None until the provider has said it, `ended_at` until all is taken in.
    """

    batch: str
    model: str
    remote_id: str | None
    status: str
    n_requests: int
    created_at: str
    ended_at: str | None


class Item(NamedTuple):
    """A request in a batch; `run` asked it, `kind` and `detail` say how it was lost last."""

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


class Lost(NamedTuple):
    """A request that came back without an answer; `charge` is what it cost all the same."""

    key: str
    kind: FailureKind
    detail: str
    again: bool
    charge: Charge | None = None


class BatchState:
    """The batches and their items in a ledger; safe among threads and processes."""

    def __init__(self, ledger: Ledger):
        self._file = ledger._file

    def item(self, key: str) -> Item | None:
        """The request `key`, if it is on its way or came back without an answer."""
        items = self._items("key = ?", key)
        return items[0] if items else None

    def waiting(self, batch: str) -> dict[str, Item]:
        """What waits in a batch, by key."""
        return {item.key: item for item in self._items("state = 'waiting' AND batch = ?", batch)}

    def batches(self, *, still_open: bool = False) -> list[Batch]:
        """Every batch there was, or those that have not ended; oldest first."""
        rows = self._file.connection.execute(
            "SELECT * FROM batches WHERE ended_at IS NULL OR ? ORDER BY created_at, batch",
            [not still_open],
        )
        return [Batch(*row) for row in rows]

    def hand_over(self, batch: str, model: str, items: Sequence[Item]) -> set[str]:
        """Put items into a new batch; the keys of those that no other process was quicker with."""
        with self._file.transaction() as connection:
            taken = {item.key for item in items if _take(connection, batch, item)}
            if taken:
                connection.execute(
                    "INSERT INTO batches VALUES (?, ?, NULL, 'prepared', ?, ?, NULL)",
                    [batch, model, len(taken), now()],
                )
        return taken

    def wait(self, run: str, batches: Iterable[str]) -> None:
        """A run stops to wait for these batches."""
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT INTO batch_waits VALUES (?, ?) ON CONFLICT DO NOTHING",
                [(run, batch) for batch in batches],
            )

    def ready_runs(self) -> list[str]:
        """Runs that have stopped to wait and whose batches have all ended."""
        rows = self._file.connection.execute(
            "SELECT run FROM batch_waits JOIN batches USING (batch) "
            "GROUP BY run HAVING count(*) = count(ended_at) ORDER BY max(ended_at), run"
        )
        return [row[0] for row in rows]

    def resumed(self, run: str) -> None:
        """A run waits no more: it was run again, or nobody wants it to be."""
        with self._file.transaction() as connection:
            connection.execute("DELETE FROM batch_waits WHERE run = ?", [run])

    def submitted(self, batch: str, remote_id: str) -> None:
        """The provider has taken the batch."""
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE batches SET remote_id = ?, status = 'submitted' WHERE batch = ?",
                [remote_id, batch],
            )

    def never_sent(self, batch: str) -> None:
        """The provider has not got the batch: its items are as if they had not been handed over."""
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE batch_items SET state = 'again', submissions = submissions - 1 "
                "WHERE batch = ?",
                [batch],
            )
            connection.execute("DELETE FROM batch_waits WHERE batch = ?", [batch])
            connection.execute("DELETE FROM batches WHERE batch = ?", [batch])

    def seen(self, batch: str, status: str) -> None:
        """What the provider says of a batch that has not ended."""
        with self._file.transaction() as connection:
            connection.execute("UPDATE batches SET status = ? WHERE batch = ?", [status, batch])

    def take_in(self, batch: str, results: Sequence[Call | Lost]) -> None:
        """Keep answers and let their items go, note losses; all of it or nothing, and once."""
        with self._file.transaction() as connection:
            for result in results:
                if isinstance(result, Lost):
                    _lose(connection, batch, result)
                    continue
                insert(connection, [result])
                connection.execute("DELETE FROM batch_items WHERE key = ?", [result.key])

    def ended(self, batch: str, status: str, rest: Lost) -> None:
        """A batch is over; what still waits in it is lost as `rest` says, whatever its key.

        Where somebody cancelled it, what waits is let go, and no run is run again for it.
        """
        left = self.waiting(batch)
        with self._file.transaction() as connection:
            if status == "cancelled":
                connection.execute("DELETE FROM batch_items WHERE batch = ?", [batch])
                connection.execute("DELETE FROM batch_waits WHERE batch = ?", [batch])
            for key in left:
                _lose(connection, batch, rest._replace(key=key))
            connection.execute(
                "UPDATE batches SET status = ?, ended_at = ? WHERE batch = ?",
                [status, now(), batch],
            )

    def reported(self, keys: Iterable[str]) -> None:
        """These losses were reported, or answered live: the requests may be sent anew."""
        with self._file.transaction() as connection:
            connection.executemany(
                "DELETE FROM batch_items WHERE key = ? AND state <> 'waiting'",
                [(key,) for key in keys],
            )

    def reported_all(self, stage: str, kind: FailureKind) -> None:
        """All losses of a stage of this kind were reported at once, as `reported` does it."""
        with self._file.transaction() as connection:
            connection.execute(
                "DELETE FROM batch_items WHERE stage = ? AND kind = ? AND state = 'failed'",
                [stage, kind],
            )

    def _items(self, where: str, value: str) -> list[Item]:
        rows = self._file.connection.execute(f"SELECT * FROM batch_items WHERE {where}", [value])
        return [Item(*row)._replace(request=unpack(row[-1])) for row in rows]


def _take(connection: NamedConnection, batch: str, item: Item) -> bool:
    """Whether the item was free: not answered meanwhile, and new or to be asked again."""
    return bool(
        connection.execute(
            "INSERT INTO batch_items SELECT "
            ":key, :batch, 1, 'waiting', NULL, NULL, :stage, :run, :prompt_version, :request "
            "WHERE NOT EXISTS (SELECT 1 FROM calls WHERE key = :key) "
            "ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, state = 'waiting', "
            "submissions = batch_items.submissions + 1, stage = excluded.stage, run = excluded.run "
            "WHERE batch_items.state = 'again'",
            {**item._asdict(), "batch": batch, "request": pack(item.request)},
        ).rowcount
    )


def _lose(connection: NamedConnection, batch: str, lost: Lost) -> None:
    done = connection.execute(
        "UPDATE batch_items SET kind = ?, detail = ?, "
        "state = CASE WHEN ? AND submissions < ? THEN 'again' ELSE 'failed' END "
        "WHERE key = ? AND batch = ? AND state = 'waiting'",
        [lost.kind, lost.detail, lost.again, MAX_SUBMISSIONS, lost.key, batch],
    )
    # Taken in a second time, after a crash, it is charged once all the same.
    if done.rowcount and lost.charge is not None:
        insert(connection, [lost.charge])
