"""Integrity checks of the ledger's file: a quick one before money is spent, and a complete one.

SQLite only notices a damaged database page when it reads it, which may be after a thousand
paid answers. So the quick check reads all pages, which for a ledger of a million calls (1.5 GB)
takes 1 s from memory and 6 s from disk.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from resources.files.home import is_writable
from resources.llm.ledger.calls import unpack
from resources.llm.ledger.file import LEDGER
from resources.migrations import StoreError, missing_steps
from resources.stores.sqlite import BUSY_TIMEOUT, address_of, require_content
from resources.stores.sqlite_errors import is_damaged, unwritable
from resources.stores.sqlite_rows import Readers, text_or_bytes, unreadable_values

READERS: Readers = {f"{table}.request": unpack for table in ("calls", "charges", "batch_items")}
"""Decoders of the columns with compressed requests."""
_SHOWN = 20
"""The most problems that a complete check lists."""


class LedgerCheckResult(NamedTuple):
    """The result of a complete check: the number of rows, and a sentence for each problem."""

    n_calls: int
    n_charges: int
    wrong: list[str]


def require_sound(path: Path) -> None:
    """Raise StoreError if the quick check finds damage in the ledger at `path`, of any version."""
    with _connected(path) as connection:
        try:
            result: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        except sqlite3.DatabaseError as error:
            _require_damaged(path, error)
            result = str(error)
    if result != "ok":
        raise LEDGER.damage_error(path, _one_line(result))


def has_calls(path: Path) -> bool:
    """Tell whether a ledger has any call; False for a file that does not exist or cannot be read."""
    return bool(_rows(path, "SELECT 1 FROM calls LIMIT 1"))


def keys_of_calls(path: Path) -> frozenset[str]:
    """Return the keys of all calls of a ledger of any version; none if it does not exist or cannot be
    read.
    """
    rows = _rows(path, "SELECT key FROM calls UNION SELECT key FROM charges")
    return frozenset(key for (key,) in rows)


def _rows(path: Path, query: str) -> list[tuple[str]]:
    try:
        with _connected(path) as connection:
            return connection.execute(query).fetchall()
    except (StoreError, sqlite3.Error):
        return []


def check_all(path: Path) -> LedgerCheckResult:
    """Check every database page, index and row of the ledger at `path`, of any version up to this one.

    Raises StoreError for a ledger of a later version, and for an empty file.
    """
    wrong: list[str] = []
    counts = {"calls": 0, "charges": 0}
    with _connected(path) as connection:
        require_content(path, LEDGER)
        # The database page with the version may be damaged.
        with suppress(sqlite3.DatabaseError):
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            missing_steps(LEDGER.steps, path, version)
        try:
            rows = connection.execute(f"PRAGMA integrity_check({_SHOWN})").fetchall()
            wrong += [_one_line(text) for (text,) in rows if text != "ok"]
        except sqlite3.DatabaseError as error:
            if not is_writable(path):
                raise StoreError(unwritable(path, error)) from error
            _require_damaged(path, error)
            return LedgerCheckResult(0, 0, [str(error)])
        for table in counts:
            try:
                for damaged in unreadable_values(connection, table, READERS):
                    counts[table] += 1
                    if damaged and len(wrong) < _SHOWN:
                        wrong.append(damaged)
            except sqlite3.DatabaseError as error:
                _require_damaged(path, error)
                wrong.append(f"{table} can be read up to row {counts[table]} only: {error}")
    return LedgerCheckResult(counts["calls"], counts["charges"], wrong[:_SHOWN])


def _require_damaged(path: Path, error: sqlite3.DatabaseError) -> None:
    """Raise StoreError if an error does not mean a damaged file, for example a full disk."""
    if not is_damaged(error):
        raise StoreError(
            f"{path} cannot be read ({error}). Fix the cause, and start again."
        ) from error


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection that does not change the file's version. Raises StoreError if there is no
    file.
    """
    if not (path.is_file() and os.access(path, os.R_OK)):
        raise StoreError(
            f"There is no ledger at {path} that can be read: set LOOM_WORKSPACE to your workspace."
        )
    address = address_of(path)
    with closing(
        sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    ) as connection:
        connection.text_factory = text_or_bytes
        # A check that a stranger declared could compute without end.
        connection.execute("PRAGMA ignore_check_constraints = ON")
        yield connection


def _one_line(text: str) -> str:
    return " ".join(text.removeprefix("*** in database main ***").split())
