"""The ledger's rows: calls that were answered, charges for what brought no answer.

What belongs here: what a row holds and how it is put into its table. Which rows there are is asked of
`ledger.py`.
"""

import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from methods.ids import canonical_json
from resources.llm.request import Completion


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
