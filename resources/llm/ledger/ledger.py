"""The ledger: every model call that was answered, by the hash of what was asked.

It is the cache, the resume point, the cost account and the audit trail in one store. A
response is committed and flushed before anyone sees it. What belongs here: what is asked of calls and
of charges, also in bulk as Arrow (the state of batches stands in `batch_state.py`, in the same store).
Images are in it by SHA-256 inside the request, never as base64; keys and secrets never come near it.
"""

from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from resources.llm.ledger.calls import (
    ANSWERED,
    OUTCOME_COLUMNS,
    UNREAD,
    Call,
    Charge,
    insert,
    now,
    outcome_of,
    unpack,
)
from resources.llm.ledger.check import require_sound
from resources.llm.ledger.file import LedgerFile
from resources.llm.request import Outcome
from resources.store_backend import open_store

if TYPE_CHECKING:
    import pyarrow as pa


_LOOKUP_CHUNK = 500


class Renewal(NamedTuple):
    """A decision to ask anew: a model, a stage, a prompt or its version; None is any.

    The model is named by who answers and its name there (`ModelSpec.answerer`), so that an entry of
    models.yaml may be renamed.
    """

    model: str | None
    stage: str | None
    prompt: str | None

    def covers(self, model: str, stage: str, prompt_version: str) -> bool:
        """Whether it is about requests to this model, of this stage, with this version of a prompt."""
        return (
            self.model in (None, model)
            and self.stage in (None, stage)
            and self.prompt in (None, prompt_version, prompt_version.partition("@")[0])
        )


class Ledger:
    """Reads and adds calls; safe among threads and processes: each thread has a connection."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # BatchState, the other class of this folder, keeps its tables in the same file.
        self._file = open_store(LedgerFile, self.path)

    def close(self) -> None:
        """Close what this thread has open; the next call opens it again."""
        self._file.close()

    def require_sound(self) -> None:
        """Raise StoreError if the file is damaged, as far as `check.py` looks."""
        if isinstance(self._file, LedgerFile):
            require_sound(self.path)

    def require_in_place(self) -> None:
        """Raise StoreError if the file was deleted or replaced since it was opened."""
        self._file.require_in_place()

    def find(self, keys: Sequence[str]) -> dict[str, Outcome]:
        """The replies kept for the requests `keys`, as their askers see them: cached."""
        outcomes: dict[str, Outcome] = {}
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            rows = self._file.connection.execute(
                f"SELECT {', '.join(OUTCOME_COLUMNS)} "
                f"FROM calls WHERE key IN ({','.join('?' * len(chunk))})",
                chunk,
            )
            outcomes |= {row[0]: outcome_of(*row, cached=True) for row in rows}
        return outcomes

    def models_of(self, keys: Sequence[str]) -> set[str]:
        """Names of the models that answered the requests `keys`, as far as they are here."""
        models: set[str] = set()
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            rows = self._file.connection.execute(
                f"SELECT DISTINCT model FROM calls WHERE key IN ({','.join('?' * len(chunk))})",
                chunk,
            )
            models |= {model for (model,) in rows}
        return models

    def add(self, calls: Sequence[Call | Charge]) -> None:
        """Keep calls and charges, durable on return. The first answer to a request stands."""
        with self._file.transaction(in_turn=False) as connection:
            insert(connection, calls)

    def __iter__(self) -> Iterator[Call]:
        """Every call, by key."""
        with self._file.alone() as connection:
            for row in connection.execute(
                f"SELECT {', '.join(Call._fields)} FROM calls ORDER BY key"
            ):
                yield _unpacked(Call(*row))

    def renew(self, renewal: Renewal) -> None:
        """From now on ask anew what is like `renewal`; the answers that there are stay."""
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO renewals (model, stage, prompt, created_at) VALUES (?, ?, ?, ?)",
                [*renewal, now()],
            )

    def renewals(self) -> list[Renewal]:
        """Every decision to ask anew, in their order."""
        rows = self._file.connection.execute(
            "SELECT model, stage, prompt FROM renewals ORDER BY seq"
        )
        return [Renewal(*row) for row in rows]

    def unread(self, stage: str) -> set[str]:
        """The keys of a stage's answers that could not be read when they were last looked at."""
        rows = self._file.connection.execute(
            "SELECT key FROM calls WHERE outcome = 'unread' AND stage = ?", [stage]
        )
        return {key for (key,) in rows}

    def count_unread(self) -> dict[str, int]:
        """The number of those answers by stage."""
        rows = self._file.connection.execute(
            "SELECT stage, count(*) FROM calls WHERE outcome = 'unread' GROUP BY stage ORDER BY stage"
        )
        return dict(rows.fetchall())

    def mark_read(self, keys: Set[str], *, read: bool) -> None:
        """Keep whether these answers could be read."""
        if not keys:
            return
        outcomes = (ANSWERED, UNREAD) if read else (UNREAD, ANSWERED)
        with self._file.transaction() as connection:
            connection.executemany(
                "UPDATE calls SET outcome = ? WHERE outcome = ? AND key = ?",
                [(*outcomes, key) for key in keys],
            )

    def forget_unread(self, like: Renewal) -> int:
        """Have what could not be read and is like `like` asked for again; the number of answers.

        They are charges from now on: paid for, and no answer.
        """
        with self._file.transaction() as connection:
            rows = connection.execute(
                f"SELECT {', '.join(Call._fields)} FROM calls WHERE outcome = 'unread'"
            ).fetchall()
            unread = [
                _unpacked(call)
                for call in map(Call._make, rows)
                if like.covers(f"{call.endpoint} {call.model}", call.stage, call.prompt_version)
            ]
            connection.executemany(
                "DELETE FROM calls WHERE key = ?", [(call.key,) for call in unread]
            )
            insert(connection, [call.as_charge("Its asker could not read it.") for call in unread])
        return len(unread)

    def kinds(self) -> list[tuple[str, str, str, str, int]]:
        """Endpoint, model, stage and prompt version of the calls, and the number of each."""
        return self._file.connection.execute(
            "SELECT endpoint, model, stage, prompt_version, count(*) FROM calls "
            "GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"
        ).fetchall()

    def mean_completion(self, stage: str, model: str) -> float | None:
        """Tokens of the mean answer that a stage had from a model; None where it had none."""
        row = self._file.connection.execute(
            "SELECT avg(completion_tokens) FROM calls WHERE stage = ? AND model = ?", [stage, model]
        ).fetchone()
        return None if row[0] is None else float(row[0])

    def cost_of(self, runs: Sequence[str]) -> float:
        """US dollars that these runs have paid, for answers and for none."""
        marks = ",".join("?" * len(runs))
        cursor = self._file.connection.execute(
            f"SELECT coalesce(sum(cost_usd), 0) FROM paid_calls WHERE run IN ({marks})", runs
        )
        return float(cursor.fetchone()[0])

    def paid_calls(self, columns: Sequence[str], n_rows: int) -> Iterator[list[tuple[object, ...]]]:
        """What every call and charge cost, `n_rows` at a time: `columns` of the view `paid_calls` in
        `schema.sql`, answered calls as they were committed, then charges."""
        names = ", ".join(f'"{name}"' for name in columns)
        with self._file.alone() as connection:
            cursor = connection.execute(f"SELECT {names} FROM paid_calls")
            while rows := cursor.fetchmany(n_rows):
                yield rows

    def count_paid_calls(self) -> int:
        """How many calls and charges there are."""
        cursor = self._file.connection.execute("SELECT count(*) FROM paid_calls")
        return int(cursor.fetchone()[0])

    def __len__(self) -> int:
        return int(self._file.connection.execute("SELECT count(*) FROM calls").fetchone()[0])


def _unpacked(row: Call) -> Call:
    """A row whose request is packed, as the table has it."""
    packed: bytes = row.request  # type: ignore[assignment]
    return row._replace(request=unpack(packed))


ROWS_AT_ONCE = 2000
"""As Python objects a row weighs five times what it does in Arrow."""


def read_paid_calls(ledger: Ledger, schema: "pa.Schema") -> "pa.Table":
    """Every paid call in the columns and types of `schema`: answered calls, then charges."""
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
