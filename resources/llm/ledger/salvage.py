"""A new ledger made of what can be read of a damaged one.

What belongs here: which rows are the ledger's, and that the damaged file is kept and gives up its
place only to a whole one. A row is taken if it is whole: its values are of its table's types and its
request can be unpacked, which ends in a checksum and stands behind the texts. So nothing is made up;
only a change of a few letters inside a text cannot be noticed. Reading pages is
`resources/sqlite_pages.py`. That of the program sqlite3 (`.recover`) is not in Python's library, and
Debian 12 builds the program without it (SQLITE_ENABLE_DBPAGE_VTAB). Built with it, sqlite3 3.40.1 read
nothing of a file with an overwritten header, and cut texts at their first NUL.
"""

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from resources.llm.ledger.calls import readable
from resources.llm.ledger.file import CLASSES, LedgerFile
from resources.migrations import StoreError
from resources.sqlite_file import statements
from resources.sqlite_pages import Pages, Row, Value

_DECLARED = ("table", "index", "view")
_NUMBERED = ("calls", "charges")
_BESIDE = ("-journal", "-wal", "-shm", ".lock")


class Salvaged(NamedTuple):
    """What was made of a damaged ledger, and where the damaged file is now.

    `rows` counts the rows of each table, `missing` those of calls and charges that are missing among
    the numbers up to the last one that was read.
    """

    rows: dict[str, int]
    missing: dict[str, int]
    aside: Path


class _Table(NamedTuple):
    name: str
    with_rowid: bool
    columns: list[tuple[str, tuple[type, ...], bool, bool]]
    """Of each: its name, the types of its values, whether it needs one, whether it numbers the row."""


def salvage(path: Path) -> Salvaged:
    """Put a new ledger of this version in the place of the damaged one at `path`, which is kept.

    Nobody else may use the ledger. Raises StoreError where nothing can be read, and for a later
    version. Killed at any moment, it leaves the damaged ledger in its place, or aside and the new one
    whole, and the next time finishes that.
    """
    whole = path.with_name(f"{path.name}.salvaged")
    aside = _aside(path)
    if aside is None or not whole.exists():
        draft = path.with_name(f"{path.name}.salvaging")
        _remove(draft)
        _write(draft, path)
        aside = aside or path.with_name(f"{path.name}.damaged-{datetime.now(UTC):%Y%m%d-%H%M%S}")
        for end in ("", "-wal"):
            here, there = _beside(path, end), _beside(aside, end)
            if here.exists() and not there.exists():
                os.link(here, there)
        draft.rename(whole)
    rows, missing = _counts(whole)
    # The damaged file's log would be taken for the new one's.
    for end in ("-wal", "-shm"):
        _beside(path, end).unlink(missing_ok=True)
    whole.replace(path)
    os.sync()
    return Salvaged(rows, missing, aside)


def _write(draft: Path, path: Path) -> None:
    pages = Pages(path)
    with closing(sqlite3.connect(draft, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        _declare(connection, pages, path)
        connection.execute("BEGIN")
        _fill(connection, pages)
        connection.execute("COMMIT")
    # Opening it brings an earlier version to this one.
    LedgerFile(draft).close()
    rows, _ = _counts(draft)
    if not any(rows[name] for name in _NUMBERED):
        _remove(draft)
        raise StoreError(
            f"Nothing can be read of {path}: restore a backup (vlm-loom home restore), or, to begin "
            "without it, move it and any -wal file next to it into another folder."
        )
    os.sync()
    _beside(draft, ".lock").unlink(missing_ok=True)


def _declare(connection: sqlite3.Connection, pages: Pages, path: Path) -> None:
    """Make empty tables of the version that the damaged file has; of today's if its header is lost."""
    todays = LedgerFile.newest_version()
    version = pages.version if pages.has_header else todays
    LedgerFile.require_known(path, version)
    declared = [
        statement
        for schema in LedgerFile.SCHEMA
        for statement in statements(schema.read_text(encoding="utf-8"))
    ]
    if version < todays:
        declared = _declarations(pages)
    for statement in declared:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {version}")


def _declarations(pages: Pages) -> list[str]:
    """The statements that declare what is in the file, tables first."""
    declarations: list[tuple[int, str]] = []
    for row in pages.rows():
        if row is not None and _is_declaration(row.values) and isinstance(row.values[4], str):
            declarations.append((_DECLARED.index(str(row.values[0])), row.values[4]))
    return [statement for _, statement in sorted(set(declarations))]


def _is_declaration(values: Sequence[Value]) -> bool:
    return len(values) == 5 and values[0] in _DECLARED and isinstance(values[3], int)


def _fill(connection: sqlite3.Connection, pages: Pages) -> None:
    """Put every row that is whole into its table; of two with one key, the first."""
    tables = _tables(connection)
    insert = {
        table.name: f"INSERT OR IGNORE INTO {table.name} VALUES ({', '.join('?' * len(table.columns))})"
        for table in tables
    }
    for row in pages.rows():
        for table in tables if row is not None else ():
            if row is not None and (values := _as_row(row, table)) is not None:
                connection.execute(insert[table.name], values)
                break


def _as_row(row: Row, table: _Table) -> list[Value] | None:
    """The values of a row of this table; None if it is not one, or not whole."""
    if len(row.values) != len(table.columns) or (row.rowid is not None) != table.with_rowid:
        return None
    values: list[Value] = []
    for value, (name, classes, required, is_rowid) in zip(row.values, table.columns, strict=True):
        if is_rowid:
            if value is not None or row.rowid is None or row.rowid < 1:
                return None
            values.append(row.rowid)
            continue
        if value is None and required or value is not None and type(value) not in classes:
            return None
        if name == "request" and isinstance(value, bytes) and readable(value) is None:
            return None
        values.append(value)
    return values


def _tables(connection: sqlite3.Connection) -> list[_Table]:
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master "
        "WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
    ).fetchall()
    return [_table(connection, name, sql) for name, sql in rows]


def _table(connection: sqlite3.Connection, name: str, sql: str) -> _Table:
    with_rowid = "WITHOUT ROWID" not in sql
    columns = [
        (
            column,
            CLASSES[kind],
            bool(not_null),
            with_rowid and kind == "INTEGER" and bool(in_key),
        )
        for _, column, kind, not_null, _, in_key in connection.execute(f"PRAGMA table_info({name})")
    ]
    return _Table(name, with_rowid, columns)


def _counts(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Rows by table; how many numbers of calls and charges are missing up to the highest."""
    with closing(sqlite3.connect(path)) as connection:
        names = [table.name for table in _tables(connection)]
        rows = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names
        }
        highest = {
            name: connection.execute(f"SELECT coalesce(max(seq), 0) FROM {name}").fetchone()[0]
            for name in _NUMBERED
        }
    return rows, {name: highest[name] - rows[name] for name in _NUMBERED}


def _aside(path: Path) -> Path | None:
    """The other name of the damaged file, if a salvage that was killed has given it one."""
    for candidate in path.parent.glob(f"{path.name}.damaged-*"):
        if candidate.samefile(path):
            return candidate
    return None


def _beside(path: Path, end: str) -> Path:
    return path.with_name(f"{path.name}{end}")


def _remove(draft: Path) -> None:
    for end in ("", *_BESIDE):
        _beside(draft, end).unlink(missing_ok=True)
