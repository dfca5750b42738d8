"""The ledger: every model call that was answered, by the hash of what was asked.

It is the cache, the resume point, the cost account and the audit trail in one SQLite file (WAL).
A response is committed and flushed before anyone sees it. What belongs here: its tables of calls and
of charges (the state of batches stands in `batch_state.py`, in the same file). Images are in it by
SHA-256 inside the request, never as base64; keys and secrets never come near it.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from methods.ids import canonical_json
from resources.llm.request import Completion
from resources.sqlite_file import SqliteFile

_TABLES = Path(__file__).with_name("ledger.sql")
_VERSION = 2
_FROM_VERSION_1 = """
INSERT INTO calls (key, provider, model, prompt_version, stage, run, via, finish_reason,
    prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at, response, request)
SELECT key, provider, model, prompt_version, stage, '', 'live', finish_reason,
    prompt_tokens, completion_tokens, cost_usd, seconds, attempts, created_at, response, request
FROM calls_1 ORDER BY created_at, key
"""
_LOOKUP_CHUNK = 500


class Call(NamedTuple):
    """One answered call as it is kept; `request` is the canonical request.

    `run` names the run that paid for it, `via` is `live` or `batch`.
    """

    key: str
    provider: str
    model: str
    prompt_version: str
    stage: str
    run: str
    via: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    seconds: float
    attempts: int
    created_at: str
    response: str
    request: dict[str, object]

    def completion(self, *, cached: bool) -> Completion:
        """The call as its asker sees it."""
        return Completion(
            self.key,
            self.response,
            self.finish_reason,
            self.prompt_tokens,
            self.completion_tokens,
            self.cost_usd,
            cached,
        )


class Charge(NamedTuple):
    """Tokens paid for that brought no answer: a withheld one, an empty one. Never reused."""

    key: str
    provider: str
    model: str
    prompt_version: str
    stage: str
    run: str
    via: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    created_at: str


class Ledger(SqliteFile):
    """Reads and adds calls; safe among threads and processes: each thread has a connection."""

    def __init__(self, path: Path | str):
        super().__init__(path)
        with self._first_use() as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] < _VERSION:
                _make_tables(connection)

    def find(self, keys: Sequence[str]) -> dict[str, Completion]:
        """The answers there are to the requests `keys`, as their askers see them: cached."""
        found: dict[str, Completion] = {}
        for start in range(0, len(keys), _LOOKUP_CHUNK):
            chunk = keys[start : start + _LOOKUP_CHUNK]
            rows = self.connection.execute(
                "SELECT key, response, finish_reason, prompt_tokens, completion_tokens, cost_usd, 1 "
                f"FROM calls WHERE key IN ({','.join('?' * len(chunk))})",
                chunk,
            )
            found |= {row[0]: Completion(*row) for row in rows}
        return found

    def add(self, calls: Sequence[Call | Charge]) -> None:
        """Keep calls and charges, durable on return. The first answer to a request stands."""
        with self.transaction() as connection:
            insert(connection, calls)

    def __iter__(self) -> Iterator[Call]:
        """Every call, by key."""
        with self._alone() as connection:
            for row in connection.execute(
                f"SELECT {', '.join(Call._fields)} FROM calls ORDER BY key"
            ):
                call = Call(*row)
                yield call._replace(request=unpack(row[-1]))

    def charges(self) -> list[Charge]:
        """Every charge, in the order they were made."""
        rows = self.connection.execute(f"SELECT {', '.join(Charge._fields)} FROM charges")
        return [Charge(*row) for row in rows]

    def mean_completion(self, stage: str, model: str) -> float | None:
        """Tokens of the mean answer that a stage had from a model; None where it had none."""
        found = self.connection.execute(
            "SELECT avg(completion_tokens) FROM calls WHERE stage = ? AND model = ?", [stage, model]
        ).fetchone()
        return None if found[0] is None else float(found[0])

    def cost_of(self, runs: Sequence[str]) -> float:
        """US dollars that these runs have paid, for answers and for none."""
        marks = ",".join("?" * len(runs))
        found = self.connection.execute(
            f"SELECT coalesce(sum(cost_usd), 0) FROM accounts WHERE run IN ({marks})", runs
        )
        return float(found.fetchone()[0])

    def __len__(self) -> int:
        return int(self.connection.execute("SELECT count(*) FROM calls").fetchone()[0])


def pack(request: Mapping[str, object]) -> bytes:
    """A canonical request as it is kept: pages repeat in it, so it packs well."""
    return zlib.compress(canonical_json(request).encode())


def unpack(packed: bytes) -> dict[str, object]:
    """The canonical request that was packed."""
    request: dict[str, object] = json.loads(zlib.decompress(packed))
    return request


def insert(connection: sqlite3.Connection, calls: Sequence[Call | Charge]) -> None:
    """Put calls and charges into their tables, inside a transaction."""
    for call in calls:
        if isinstance(call, Call):
            # Not INSERT OR IGNORE: that would also drop, without a word, a row that lacks a value.
            kept = connection.execute(
                f"{_INSERT_CALL} ON CONFLICT (key) DO NOTHING",
                call._replace(request=pack(call.request)),  # type: ignore[arg-type]
            )
            if kept.rowcount:
                continue
            # A second answer is not kept, but it was paid for.
            call = Charge(*(getattr(call, name) for name in Charge._fields))
        connection.execute(_INSERT_CHARGE, call)


def _insert_into(table: str, columns: Sequence[str]) -> str:
    marks = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"


_INSERT_CALL = _insert_into("calls", Call._fields)
_INSERT_CHARGE = _insert_into("charges", Charge._fields)


def now() -> str:
    """The time as the ledger's rows have it: UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _make_tables(connection: sqlite3.Connection) -> None:
    """The tables of this version; what an older one held was paid for, and is taken along."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        older = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone()
        if older:
            connection.execute("ALTER TABLE calls RENAME TO calls_1")
        for statement in _TABLES.read_text().split(";\n"):
            connection.execute(statement)
        if older:
            connection.execute(_FROM_VERSION_1)
            connection.execute("DROP TABLE calls_1")
        connection.execute(f"PRAGMA user_version = {_VERSION}")
