"""The ledger: every model call that was answered, by the hash of what was asked.

It is the cache, the resume point, the cost account and the audit trail in one store. A response is
committed and flushed before anyone sees it. Images are in it by SHA-256 inside the request, never as
base64; keys and secrets never come near it.
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
    DuplicateCallError,
    current_time,
    outcome_of,
    unpack,
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
# Statements are made once where they are run for each request: making one costs more than running it.
_OF_KEYS = CALLS.c.key.in_(bindparam("keys", expanding=True))
_FIND = select(*(CALLS.c[name] for name in OUTCOME_COLUMNS)).where(_OF_KEYS)


class ReAskDecision(NamedTuple):
    """A decision to re-ask: a model, a stage, a prompt or its version; None is any.

    The model is named by who answers and its name there (`ModelSpec.answerer`), so that an entry of
    models.yaml may be renamed.
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

        Returns:
            Whether it applies.
        """
        return (
            self.model in (None, model)
            and self.stage in (None, stage)
            and self.prompt in (None, prompt_version, prompt_version.partition("@")[0])
        )


class Ledger:
    """Reads and adds calls; safe among threads and processes: a call blocks until it is done."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # BatchState, the other class of this folder, keeps its tables in the same file.
        self._store = open_store(LEDGER, self.path)

    def close(self) -> None:
        """Close the idle connections. A later call opens new ones."""
        self._store.close()

    @property
    def may_wait(self) -> bool:
        """Whether a call may take long, as it asks a server: an event loop runs it in a thread."""
        return not isinstance(self._store, SqliteStore)

    def require_sound(self) -> None:
        """Raise StoreError if the file is damaged, as far as `check.py` looks."""
        if not self.may_wait:
            require_sound(self.path)

    def require_in_place(self) -> None:
        """Raise StoreError if the file was deleted or replaced since it was opened."""
        self._store.require_in_place()

    def find(self, keys: Sequence[str]) -> dict[str, Outcome]:
        """The replies kept for the requests `keys`, as their askers see them: cached."""
        return {row[0]: outcome_of(*row, cached=True) for row in self._of_keys(_FIND, keys)}

    def models_of(self, keys: Sequence[str]) -> set[str]:
        """Names of the models that answered the requests `keys`, as far as they are here."""
        query = select(CALLS.c.model).distinct().where(_OF_KEYS)
        return {model for (model,) in self._of_keys(query, keys)}

    def calls(self, keys: Sequence[str]) -> Iterator[Call]:
        """The calls that answered the requests `keys`, as far as they are here."""
        for row in self._of_keys(_CALLS.where(_OF_KEYS), keys):
            yield _unpacked(Call(*row))

    def _of_keys(
        self, query: Select[*tuple[Any, ...]], keys: Sequence[str]
    ) -> Iterator[Row[*tuple[Any, ...]]]:
        """The rows of a query with `_OF_KEYS`, some keys at a time."""
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            with self._store.read() as connection:
                rows = connection.execute(query, {"keys": chunk}).all()
            yield from rows

    def add(self, calls: Sequence[Call | Charge]) -> None:
        """Keep calls and charges, durable on return. The first answer to a request stands."""
        try:
            with self._store.transaction(in_turn=False) as connection:
                add_rows(connection, calls)
        except DuplicateCallError:
            with self._store.transaction(in_turn=False) as connection:
                add_rows(connection, calls, singly=True)

    def __iter__(self) -> Iterator[Call]:
        """Every call, by key."""
        with self._store.streamed() as connection:
            for row in connection.execute(_CALLS.order_by(CALLS.c.key)):
                yield _unpacked(Call(*row))

    def renew(self, renewal: ReAskDecision) -> None:
        """Store a decision to ask requests again. Existing answers stay."""
        with self._store.transaction() as connection:
            connection.execute(
                insert(RENEWALS), {**renewal._asdict(), "created_at": current_time()}
            )

    def renewals(self) -> list[ReAskDecision]:
        """Every decision to re-ask, in their order."""
        columns = RENEWALS.c
        query = select(columns.model, columns.stage, columns.prompt).order_by(columns.seq)
        with self._store.read() as connection:
            return [ReAskDecision(*row) for row in connection.execute(query)]

    def unread(self, stage: str) -> set[str]:
        """The keys of a stage's answers that could not be read when they were last looked at."""
        query = select(CALLS.c.key).where(IS_UNREAD, CALLS.c.stage == stage)
        with self._store.read() as connection:
            return set(connection.execute(query).scalars())

    def count_unread(self) -> dict[str, int]:
        """The number of those answers by stage."""
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
        """Have what could not be read and is like `decision` asked for again; the answers by stage.

        They are charges from now on: paid for, and no answer.
        """
        with self._store.transaction() as connection:
            rows = connection.execute(_CALLS.where(IS_UNREAD)).all()
            unread = [
                _unpacked(call)
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
        """Endpoint, model, stage and prompt version of the calls, and the number of each."""
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
        """US dollars that these runs have paid, for answers and for none."""
        cost = select(func.coalesce(func.sum(PAID_CALLS.c.cost_usd), 0.0))
        with self._store.read() as connection:
            return float(connection.execute(cost.where(PAID_CALLS.c.run.in_(runs))).scalar_one())

    def paid_calls(self, columns: Sequence[str], n_rows: int) -> Iterator[list[tuple[object, ...]]]:
        """Return the cost of every call and charge: calls in the order of their commits, then charges.

        Args:
            columns: Columns of the view `paid_calls` in `file.py`.
            n_rows: The number of rows of a chunk.

        Returns:
            Chunks of rows.
        """
        names: list[ColumnElement[Any]] = [column(name) for name in columns]
        query = select(*names).select_from(PAID_CALLS)
        with self._store.streamed() as connection:
            for rows in connection.execute(query).partitions(n_rows):
                yield [(*row,) for row in rows]

    def count_paid_calls(self) -> int:
        """How many calls and charges there are."""
        with self._store.read() as connection:
            return int(
                connection.execute(select(func.count()).select_from(PAID_CALLS)).scalar_one()
            )

    def __len__(self) -> int:
        with self._store.read() as connection:
            return int(connection.execute(select(func.count()).select_from(CALLS)).scalar_one())


def _unpacked(row: Call) -> Call:
    """A row whose request is packed, as the table has it."""
    packed: bytes = row.request  # type: ignore[assignment]
    return row._replace(request=unpack(packed))


ROWS_AT_ONCE = 2000
"""As Python objects a row weighs five times what it does in Arrow."""


def read_paid_calls(ledger: Ledger, schema: "pa.Schema") -> "pa.Table":
    """Read every paid call into an Arrow table: answered calls, then charges.

    Args:
        ledger: The ledger.
        schema: The columns with their types.

    Returns:
        The table.
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
