"""Where the stores are: SQLite files of the home, or the Postgres database that `LOOM_STORES` names.

What belongs here: this choice, and what differs by it for those who use a store.
"""

import sqlite3
from collections.abc import Callable, Sequence
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from resources.migrations import StoreError
from resources.sqlite_file import SqliteFile
from resources.stores import StoreKind, copies
from resources.stores.address import VARIABLE, database, files_alone, packages
from resources.stores.sqlite import copy_sqlite

if TYPE_CHECKING:
    from resources.postgres.schema import PostgresSchema

_ROWS_AT_ONCE = 1000
_OPENED: "dict[tuple[str, str], PostgresSchema]" = {}
_OPENING = Lock()
File = TypeVar("File", bound=SqliteFile)
T = TypeVar("T")


def open_store(kind: type[File], path: Path | str) -> File:
    """The store of this kind: the file at `path`, or its schema in the database."""
    if database() is None:
        return kind(path)
    # It has what a file has for those who use it, and its connections answer as a file's do.
    return cast(File, _schema(kind))


def look(kind: type[SqliteFile], path: Path, question: Callable[[sqlite3.Connection], T]) -> T:
    """What `question` finds through a connection that only reads, as the store is at one moment."""
    if database() is None:
        return kind.look(path, question)
    store = _schema(kind)
    try:
        return store.look(cast("Callable[..., T]", question))
    finally:
        store.close()


def server_seconds(connection: sqlite3.Connection) -> float | None:
    """The time by the clock of the store's server, which all machines have in common, in seconds since
    1970; None where the store is a file and the machine's clock is the one."""
    if isinstance(connection, sqlite3.Connection):
        return None
    return float(connection.seconds())


def copy_store(kind: type[SqliteFile] | StoreKind, path: Path, target: Path) -> None:
    """Copy a store to the new SQLite file `target`, as it is at one moment, while others write it."""
    if isinstance(kind, StoreKind):
        copies.copy_store(kind, path, target)
        return
    if database() is None:
        copy_sqlite(path, target)
        return
    with files_alone():
        copy = kind(target)

    def copied(source: sqlite3.Connection) -> None:
        with copy.transaction() as connection:
            for table in _tables(connection):
                rows = source.execute(f"SELECT {table.columns} FROM {table.name}")
                while chunk := rows.fetchmany(_ROWS_AT_ONCE):
                    connection.executemany(table.insert, chunk)

    look(kind, path, copied)
    copy.close()


def fill_store(kind: type[SqliteFile] | StoreKind, path: Path) -> int | None:
    """Bring the rows of the file at `path`, which nobody writes, to the database; how many there are.

    Rows are stored some at a time, so that who was interrupted goes on; at its end each row of the
    file is compared with that of the database. None where that was done before. Raises StoreError
    where the database has rows of its own, or those of another file.
    """
    if isinstance(kind, StoreKind):
        return copies.fill_store(kind, path)
    store = _schema(kind)
    try:
        with files_alone():
            kind(path).close()
            return kind.look(path, lambda source: _fill(store, path, source))
    finally:
        store.close()


def _fill(store: "PostgresSchema", path: Path, source: sqlite3.Connection) -> int | None:
    tables = _tables(source)
    if _is_filled(store, path, tables):
        return None
    for table in tables:
        rows = source.execute(f"SELECT {table.columns} FROM {table.name}")
        while chunk := rows.fetchmany(_ROWS_AT_ONCE):
            with store.transaction(in_turn=False) as connection:
                # Those that an interrupted move has brought are there.
                connection.executemany(
                    f"{table.insert} ON CONFLICT DO NOTHING", list(map(tuple, chunk))
                )
    n_rows = sum(_compare(store, table, source) for table in tables)
    with store.transaction() as connection:
        for table in tables:
            store.number_on(connection, table.name)
        connection.native("UPDATE loom_filled SET whole = true")
    return n_rows


def _is_filled(store: "PostgresSchema", path: Path, tables: "Sequence[_Table]") -> bool:
    """Whether this file was brought to the database. Raises StoreError where it may not be."""
    connection = store.connection
    connection.native("CREATE TABLE IF NOT EXISTS loom_filled (source text, whole boolean)")
    begun = connection.native("SELECT source, whole FROM loom_filled").fetchone()
    if begun is None:
        full = [
            table.name
            for table in tables
            if connection.execute(f"SELECT 1 FROM {table.name} LIMIT 1").fetchone()
        ]
        if full:
            raise StoreError(
                f"{store.shown} has rows of its own ({', '.join(full)}): set {VARIABLE} to a database "
                "that nothing has used, to bring a home there."
            )
        connection.native("INSERT INTO loom_filled VALUES ($1, false)", [str(path)])
    elif begun[0] != str(path):
        raise StoreError(
            f"{store.shown} has the rows of {begun[0]}: set {VARIABLE} to a database that nothing has "
            "used, to bring another home there."
        )
    return begun is not None and bool(begun[1])


def _compare(store: "PostgresSchema", table: "_Table", source: sqlite3.Connection) -> int:
    """The number of rows of a table, each of which is compared. Raises StoreError."""
    query = f"SELECT {table.columns} FROM {table.name} ORDER BY {table.order}"

    def compared(target: sqlite3.Connection) -> int:
        number = 0
        pairs = zip_longest(source.execute(query), target.execute(query))
        for number, (mine, theirs) in enumerate(pairs, start=1):
            if mine is None or theirs is None or tuple(mine) != tuple(theirs):
                raise StoreError(
                    f"{table.name} of {store.shown} differs from the file in row {number}: stop what "
                    "writes there, rename its schema (ALTER SCHEMA ... RENAME TO ...), which keeps "
                    "the rows, and bring the home over again."
                )
        return number

    return int(store.look(cast("Callable[..., int]", compared)))


class _Table(NamedTuple):
    """A table of a store, with its columns and those of its primary key as a statement names them."""

    name: str
    columns: str
    order: str
    n_columns: int

    @property
    def insert(self) -> str:
        """The statement that adds a row."""
        marks = ", ".join("?" * self.n_columns)
        return f"INSERT INTO {self.name} ({self.columns}) VALUES ({marks})"


def _tables(connection: sqlite3.Connection) -> list[_Table]:
    """The tables of a SQLite file."""
    found = connection.execute(
        "SELECT name FROM sqlite_master "
        "WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY rowid"
    ).fetchall()
    tables = []
    for (name,) in found:
        rows = connection.execute(f"PRAGMA table_info({name})").fetchall()
        columns = [f'"{row[1]}"' for row in rows]
        key = [f'"{row[1]}"' for row in sorted(rows, key=lambda row: row[5]) if row[5]]
        tables.append(_Table(name, ", ".join(columns), ", ".join(key or columns), len(columns)))
    return tables


def _schema(kind: type[SqliteFile]) -> "PostgresSchema":
    """The schema of a kind, one in a process: its stores share the sessions of threads."""
    address = database() or ""
    with _OPENING:
        if (kind.NAME, address) not in _OPENED:
            with packages():
                from resources.postgres.schema import PostgresSchema

            _OPENED[kind.NAME, address] = PostgresSchema(kind, address)
        return _OPENED[kind.NAME, address]
