"""Where the stores are: SQLite files of the home, or the Postgres database that `LOOM_STORES` names.

What belongs here: this choice, and what differs by it for those who use a store.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar, cast

from resources.migrations import StoreError
from resources.sqlite_file import SqliteFile, copy_sqlite

if TYPE_CHECKING:
    from resources.postgres.schema import PostgresSchema

VARIABLE = "LOOM_STORES"
_SCHEMES = ("postgresql://", "postgres://")
_ROWS_AT_ONCE = 1000
_OPENED: "dict[tuple[str, str], PostgresSchema]" = {}
_OPENING = Lock()
File = TypeVar("File", bound=SqliteFile)
T = TypeVar("T")


def database() -> str | None:
    """The address of the database that the stores are in; None where they are files of the home.

    Raises StoreError for what is no such address.
    """
    address = os.environ.get(VARIABLE, "")
    if address and not address.startswith(_SCHEMES):
        raise StoreError(
            f"{VARIABLE} is no address of a Postgres database: set it as in "
            "postgresql://user@host:5432/database, or unset it to use files of the home."
        )
    return address or None


def shown_database() -> str | None:
    """The address as it may be shown, without its password; None where the stores are files."""
    address = database()
    if address is None:
        return None
    with _packages():
        from resources.postgres.connection import shown_address

    return shown_address(address)


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


def is_there(path: Path) -> bool:
    """Whether there is the store whose file is at `path`: in a database it is there when it is used."""
    return database() is not None or path.exists()


def server_seconds(connection: sqlite3.Connection) -> float | None:
    """The time by the clock of the store's server, which all machines have in common, in seconds since
    1970; None where the store is a file and the machine's clock is the one."""
    if isinstance(connection, sqlite3.Connection):
        return None
    return float(connection.seconds())


def copy_store(kind: type[SqliteFile], path: Path, target: Path) -> None:
    """Copy a store to the new SQLite file `target`, as it is at one moment, while others write it."""
    if database() is None:
        copy_sqlite(path, target)
        return
    with files_alone():
        copy = kind(target)

    def copied(source: sqlite3.Connection) -> None:
        with copy.transaction() as connection:
            tables = connection.execute(
                "SELECT name FROM sqlite_master "
                "WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
            ).fetchall()
            for (table,) in tables:
                names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                listed, marks = (
                    ", ".join(f'"{name}"' for name in names),
                    ", ".join("?" * len(names)),
                )
                rows = source.execute(f"SELECT {listed} FROM {table}")
                while chunk := rows.fetchmany(_ROWS_AT_ONCE):
                    connection.executemany(
                        f"INSERT INTO {table} ({listed}) VALUES ({marks})", chunk
                    )

    look(kind, path, copied)
    copy.close()


@contextmanager
def files_alone() -> Iterator[None]:
    """The stores are files of the home meanwhile, as in a copy of it."""
    before = os.environ.pop(VARIABLE, None)
    try:
        yield
    finally:
        if before is not None:
            os.environ[VARIABLE] = before


def _schema(kind: type[SqliteFile]) -> "PostgresSchema":
    """The schema of a kind, one in a process: its stores share the sessions of threads."""
    address = database() or ""
    with _OPENING:
        if (kind.NAME, address) not in _OPENED:
            with _packages():
                from resources.postgres.schema import PostgresSchema

            _OPENED[kind.NAME, address] = PostgresSchema(kind, address)
        return _OPENED[kind.NAME, address]


@contextmanager
def _packages() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise StoreError(
            f"Stores on Postgres need packages that are not installed ({error}): "
            "pip install 'vlm-loom[shared]', or unset LOOM_STORES."
        ) from error
