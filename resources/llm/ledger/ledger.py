"""The ledger: every model call, by the hash of its request.

It is the cache, the resume point, the cost account and the audit trail in one store. A response is
committed durably before it is used. Requests contain images by their SHA-256, not as base64. API keys
and other secrets are never stored.
"""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Row,
    Select,
    bindparam,
    column,
    delete,
    func,
    insert,
    select,
    table,
    update,
)

from resources.llm.ledger.calls import (
    ANSWERED,
    OUTCOME_COLUMNS,
    UNREAD,
    Call,
    Charge,
    current_time,
    outcome_of,
    request_of,
)
from resources.llm.ledger.calls import insert as add_rows
from resources.llm.ledger.check import require_sound
from resources.llm.ledger.file import CALLS, LEDGER, RENEWALS
from resources.llm.request import Outcome
from resources.stores import open_store
from resources.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    import pyarrow as pa


_LOOKUP_CHUNK = 500
PAID_CALLS = table(
    "paid_calls",
    *(column(name) for name in ("run", "stage", "model", "cost_usd")),
    *(column(name) for name in ("prompt_tokens", "completion_tokens")),
)
IS_UNREAD = CALLS.c.outcome == UNREAD
_CALLS = select(*(CALLS.c[name] for name in Call._fields))
# Statements that run for each request are built once: building one takes longer than running it.
_OF_KEYS = CALLS.c.key.in_(bindparam("keys", expanding=True))
_FIND = select(*(CALLS.c[name] for name in OUTCOME_COLUMNS)).where(_OF_KEYS)


class ReAskDecision(NamedTuple):
    """A decision to re-ask answers of a model, a stage, and a prompt or its version; None means any.

    The model is identified by its endpoint and its name there (`ModelSpec.answerer`), so that an entry
    of models.yaml may be renamed.
    """

    model: str | None
    stage: str | None
    prompt: str | None

    def covers(self, model: str, stage: str, prompt_version: str) -> bool:
        """Tell whether the decision applies to a request.

        Args:
            model: The model that answers.
            stage: The stage.
            prompt_version: The version of the prompt.
        """
        return (
            self.model in (None, model)
            and self.stage in (None, stage)
            and self.prompt in (None, prompt_version, prompt_version.partition("@")[0])
        )


class Ledger:
    """Reads and adds calls; safe among threads and processes. Methods block."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # BatchState keeps its tables in the same store.
        self._store = open_store(LEDGER, self.path)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self._store.close()

    @property
    def may_wait(self) -> bool:
        """Whether a method may take long, because the store is on a database server. An event
        loop then calls it in a thread.
        """
        return not isinstance(self._store, SqliteStore)

    def require_sound(self) -> None:
        """Raise StoreError if the quick check of `check.py` finds damage."""
        if not self.may_wait:
            require_sound(self.path)

    def require_in_place(self) -> None:
        """Raise StoreError if the file was deleted or replaced since it was opened."""
        self._store.require_in_place()

    def find(self, keys: Sequence[str]) -> dict[str, Outcome]:
        """Find the stored replies to requests, as cached outcomes by key."""
        return {row.key: outcome_of(row, cached=True) for row in self._of_keys(_FIND, keys)}

    def models_of(self, keys: Sequence[str]) -> set[str]:
        """Return the models that answered the requests `keys`, as far as these are stored."""
        query = select(CALLS.c.model).distinct().where(_OF_KEYS)
        return {model for (model,) in self._of_keys(query, keys)}

    def calls(self, keys: Sequence[str]) -> Iterator[Call]:
        """Yield the stored calls of the requests `keys`."""
        for row in self._of_keys(_CALLS.where(_OF_KEYS), keys):
            yield self._unpacked(Call(*row))

    def _of_keys(
        self, query: Select[*tuple[Any, ...]], keys: Sequence[str]
    ) -> Iterator[Row[*tuple[Any, ...]]]:
        """Yield the rows of a query with `_OF_KEYS`, in chunks of keys."""
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            with self._store.read() as connection:
                rows = connection.execute(query, {"keys": chunk}).all()
            yield from rows

    def add(self, calls: Sequence[Call | Charge]) -> None:
        """Store calls and charges durably. The first answer to a request stays."""
        with self._store.transaction(in_turn=False) as connection:
            add_rows(connection, calls)

    def __iter__(self) -> Iterator[Call]:
        """Yield every call, sorted by key."""
        with self._store.streamed() as connection:
            for row in connection.execute(_CALLS.order_by(CALLS.c.key)):
                yield self._unpacked(Call(*row))

    def _unpacked(self, row: Call) -> Call:
        """Decompress the request of a row. Raises StoreError if it is damaged."""
        return row._replace(request=request_of(row, self._store))

    def renew(self, renewal: ReAskDecision) -> None:
        """Store a decision to ask requests again. Existing answers stay."""
        with self._store.transaction() as connection:
            connection.execute(
                insert(RENEWALS), {**renewal._asdict(), "created_at": current_time()}
            )

    def renewals(self) -> list[ReAskDecision]:
        """List the decisions to re-ask, the oldest first."""
        columns = RENEWALS.c
        query = select(columns.model, columns.stage, columns.prompt).order_by(columns.seq)
        with self._store.read() as connection:
            return [ReAskDecision(*row) for row in connection.execute(query)]

    def unread(self, stage: str) -> set[str]:
        """Return the keys of a stage's answers that could not be parsed the last time."""
        query = select(CALLS.c.key).where(IS_UNREAD, CALLS.c.stage == stage)
        with self._store.read() as connection:
            return set(connection.execute(query).scalars())

    def count_unread(self) -> dict[str, int]:
        """Count the answers that could not be parsed, by stage."""
        stage = CALLS.c.stage
        query = select(stage, func.count()).where(IS_UNREAD).group_by(stage).order_by(stage)
        with self._store.read() as connection:
            return {name: n for name, n in connection.execute(query)}

    def mark_read(self, keys: Set[str], *, parseable: bool) -> None:
        """Store whether answers could be parsed.

        Args:
            keys: The keys of the requests.
            parseable: Whether they could be parsed.
        """
        if not keys:
            return
        after, before = (ANSWERED, UNREAD) if parseable else (UNREAD, ANSWERED)
        change = (
            update(CALLS)
            .values(outcome=after)
            .where(CALLS.c.outcome == before, CALLS.c.key == bindparam("of_key"))
        )
        with self._store.transaction() as connection:
            connection.execute(change, [{"of_key": key} for key in keys])

    def forget_unread(self, decision: ReAskDecision) -> dict[str, int]:
        """Invalidate the unparseable answers that `decision` covers. Returns their number by stage.

        They become charges, and their requests will be sent again.
        """
        with self._store.transaction() as connection:
            rows = connection.execute(_CALLS.where(IS_UNREAD)).all()
            unread = [
                self._unpacked(call)
                for call in itertools.starmap(Call, rows)
                if decision.covers(f"{call.endpoint} {call.model}", call.stage, call.prompt_version)
            ]
            if unread:
                remove = delete(CALLS).where(CALLS.c.key == bindparam("of_key"))
                connection.execute(remove, [{"of_key": call.key} for call in unread])
            add_rows(
                connection, [call.as_charge("Its asker could not read it.") for call in unread]
            )
        return Counter(call.stage for call in unread)

    def kinds(self) -> list[tuple[str, str, str, str, int]]:
        """Count the calls by endpoint, model, stage and prompt version."""
        columns = CALLS.c.endpoint, CALLS.c.model, CALLS.c.stage, CALLS.c.prompt_version
        query = select(*columns, func.count()).group_by(*columns).order_by(*columns)
        with self._store.read() as connection:
            return [(*row,) for row in connection.execute(query)]

    def mean_completion(self, stage: str, model: str) -> float | None:
        """Return the mean length of a model's answers in a stage.

        Args:
            stage: The stage.
            model: The model.

        Returns:
            Tokens; None if there are no answers.
        """
        mean = select(func.avg(CALLS.c.completion_tokens))
        with self._store.read() as connection:
            result = connection.execute(mean.where(CALLS.c.stage == stage, CALLS.c.model == model))
            tokens = result.scalar()
        return None if tokens is None else float(tokens)

    def cost_of(self, runs: Sequence[str]) -> float:
        """Sum the costs of runs in US dollars, for calls and charges."""
        cost = select(func.coalesce(func.sum(PAID_CALLS.c.cost_usd), 0.0))
        with self._store.read() as connection:
            return float(connection.execute(cost.where(PAID_CALLS.c.run.in_(runs))).scalar_one())

    def paid_calls(self, columns: Sequence[str], n_rows: int) -> Iterator[list[tuple[object, ...]]]:
        """Yield the rows of every call and charge: calls in the order of their commits, then charges.

        Args:
            columns: Columns of the view `paid_calls` in `file.py`.
            n_rows: The number of rows of a chunk.
        """
        names: list[ColumnElement[Any]] = [column(name) for name in columns]
        query = select(*names).select_from(PAID_CALLS)
        with self._store.streamed() as connection:
            for rows in connection.execute(query).partitions(n_rows):
                yield [(*row,) for row in rows]

    def count_paid_calls(self) -> int:
        """Count the calls and charges."""
        with self._store.read() as connection:
            return int(
                connection.execute(select(func.count()).select_from(PAID_CALLS)).scalar_one()
            )

    def __len__(self) -> int:
        with self._store.read() as connection:
            return int(connection.execute(select(func.count()).select_from(CALLS)).scalar_one())


ROWS_AT_ONCE = 2000
"""Rows that are converted at once: Python objects take five times the memory of Arrow."""


def read_paid_calls(ledger: Ledger, schema: "pa.Schema") -> "pa.Table":
    """Read every paid call into an Arrow table: answered calls, then charges.

    Args:
        ledger: The ledger.
        schema: The columns with their types.
    """
    import pyarrow as pa

    batches = []
    for rows in ledger.paid_calls(schema.names, ROWS_AT_ONCE):
        arrays = [
            _array(values, field.type)
            for values, field in zip(zip(*rows, strict=True), schema, strict=True)
        ]
        batches.append(pa.record_batch(arrays, schema=schema))
    return pa.Table.from_batches(batches, schema=schema)


def _array(values: tuple[object, ...], kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        # SQLite has no type for times: they are ISO 8601 there.
        return pa.array(values, pa.string()).cast(kind)
    return pa.array(values, kind)
