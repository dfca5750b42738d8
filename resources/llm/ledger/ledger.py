"""The ledger: every model call that was answered, by the hash of what was asked.

It is the cache, the resume point, the cost account and the audit trail in one SQLite file (WAL).
A response is committed and flushed before anyone sees it. What belongs here: what is asked of calls and
of charges (the state of batches stands in `batch_state.py`, in the same file). Images are in it by
SHA-256 inside the request, never as base64; keys and secrets never come near it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from resources.llm.ledger.calls import Call, Charge, insert, unpack
from resources.llm.ledger.file import LedgerFile
from resources.llm.request import Completion

_LOOKUP_CHUNK = 500


class Ledger:
    """Reads and adds calls; safe among threads and processes: each thread has a connection."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        # BatchState, the other class of this folder, keeps its tables in the same file.
        self._file = LedgerFile(self.path)

    def close(self) -> None:
        """Close what this thread has open; the next call opens it again."""
        self._file.close()

    def find(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The answers there are to the requests `keys`, as their askers see them: cached."""
        found: dict[str, Completion] = {}
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            rows = self._file.connection.execute(
                "SELECT key, response, finish_reason, prompt_tokens, completion_tokens, cost_usd, 1 "
                f"FROM calls WHERE key IN ({','.join('?' * len(chunk))})",
                chunk,
            )
            found |= {row[0]: Completion(*row) for row in rows}
        return found

    def add(self, calls: Sequence[Call | Charge]) -> None:
        """Keep calls and charges, durable on return. The first answer to a request stands."""
        with self._file.transaction() as connection:
            insert(connection, calls)

    def __iter__(self) -> Iterator[Call]:
        """Every call, by key."""
        with self._file.alone() as connection:
            for row in connection.execute(
                f"SELECT {', '.join(Call._fields)} FROM calls ORDER BY key"
            ):
                call = Call(*row)
                yield call._replace(request=unpack(row[-1]))

    def charges(self) -> list[Charge]:
        """Every charge, in the order they were made."""
        rows = self._file.connection.execute(f"SELECT {', '.join(Charge._fields)} FROM charges")
        return [Charge(*row) for row in rows]

    def mean_completion(self, stage: str, model: str) -> float | None:
        """Tokens of the mean answer that a stage had from a model; None where it had none."""
        found = self._file.connection.execute(
            "SELECT avg(completion_tokens) FROM calls WHERE stage = ? AND model = ?", [stage, model]
        ).fetchone()
        return None if found[0] is None else float(found[0])

    def cost_of(self, runs: Sequence[str]) -> float:
        """US dollars that these runs have paid, for answers and for none."""
        marks = ",".join("?" * len(runs))
        found = self._file.connection.execute(
            f"SELECT coalesce(sum(cost_usd), 0) FROM paid_calls WHERE run IN ({marks})", runs
        )
        return float(found.fetchone()[0])

    def paid_calls(self, columns: Sequence[str], n_rows: int) -> Iterator[list[tuple[object, ...]]]:
        """What every call and charge cost, `n_rows` at a time: `columns` of the view `paid_calls` in
        `schema.sql`, answered calls as they were committed, then charges."""
        names = ", ".join(f'"{name}"' for name in columns)
        cursor = self._file.connection.execute(f"SELECT {names} FROM paid_calls")
        while rows := cursor.fetchmany(n_rows):
            yield rows

    def count_paid_calls(self) -> int:
        """How many calls and charges there are."""
        found = self._file.connection.execute("SELECT count(*) FROM paid_calls")
        return int(found.fetchone()[0])

    def __len__(self) -> int:
        return int(self._file.connection.execute("SELECT count(*) FROM calls").fetchone()[0])
