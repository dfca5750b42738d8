"""The review store's SQLite file: its tables, and how an older file becomes a new one.

What belongs here: what every module of the store needs of SQLite. What is in the tables is theirs.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from resources.sqlite_file import SqliteFile

_FOLDER = Path(__file__).parent


@cache
def sql(name: str) -> str:
    """The text of `<name>.sql` beside this module."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


class ReviewFile(SqliteFile):
    """The file of the review store, its tables made when it is first used."""

    ROWS = sqlite3.Row

    def __init__(self, path: Path | str):
        super().__init__(path)
        with self._first_use():
            if not _is_current(self.connection):
                with self.transaction() as connection:
                    _make_tables(connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection for several reads of one state of the file."""
        with self.connection as connection:
            connection.execute("BEGIN")
            yield connection


def _names(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, coalesce(sql, '') FROM sqlite_master").fetchall())


def _is_current(connection: sqlite3.Connection) -> bool:
    # Not by a version: other parts of review keep tables of their own in this file.
    return "standings" in _names(connection)


def _make_tables(connection: sqlite3.Connection) -> None:
    """The tables of this form; events of the older one are taken along, in the same transaction."""
    older = "events" in _names(connection)
    if older:
        for statement in statements("older_events_aside"):
            connection.execute(statement)
    for statement in statements("schema"):
        connection.execute(statement)
    if older:
        for statement in statements("older_events_along"):
            connection.execute(statement)


def statements(name: str) -> Iterator[str]:
    """The statements of `<name>.sql`, one after another: a script would end the transaction."""
    statement = ""
    for line in sql(name).splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
