"""The SQLite file: its connections, transactions and tables, and how an older file becomes a new one.

What belongs here: what every module of the store needs of SQLite. What is in the tables is theirs.
"""

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from filelock import FileLock

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""

_FOLDER = Path(__file__).parent


@cache
def sql(name: str) -> str:
    """The text of `<name>.sql` beside this module."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


class ReviewFile:
    """Connections to one file, one for each thread, opened when first used."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._threads = threading.local()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        with FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT):
            self.connection.execute("PRAGMA journal_mode = WAL")
            if not _is_current(self.connection):
                with self.transaction() as connection:
                    _make_tables(connection)

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection: opening one takes 50 times a look-up."""
        # A child process must not go on with its parent's.
        if getattr(self._threads, "process", None) != os.getpid():
            self._threads.connection = self._open()
            self._threads.process = os.getpid()
        connection: sqlite3.Connection = self._threads.connection
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection inside a transaction, on disk when the block ends.

        It takes the writers' turn at once: one that had read first would be refused, not kept waiting.
        """
        with self.connection as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection for several reads of one state of the file."""
        with self.connection as connection:
            connection.execute("BEGIN")
            yield connection

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        if getattr(self._threads, "process", None) == os.getpid():
            self._threads.connection.close()
            del self._threads.connection, self._threads.process

    def _open(self) -> sqlite3.Connection:
        # Transactions are begun where they are wanted, not by the module.
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        connection.row_factory = sqlite3.Row
        # WAL alone may lose the last commits with the power; a person's work is not redone.
        connection.execute("PRAGMA synchronous = FULL")
        return connection


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
