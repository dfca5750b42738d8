"""One SQLite file that many threads and processes read and write at once.

What belongs here: connections, transactions, and the first use of a file. What is in the tables is its
owner's: the ledger of model calls, the review store.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import ClassVar

from filelock import FileLock

BUSY_TIMEOUT = 60.0
"""Seconds to wait for other writers: a transaction takes milliseconds, so this is a hang."""


class SqliteFile:
    """Connections to one file, one for each thread, opened when first used."""

    ROWS: ClassVar[Callable | None] = None
    """The connections' row factory; None for tuples."""

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self._threads = threading.local()
        self.path.parent.mkdir(parents=True, exist_ok=True)

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection, opened when first used: opening one takes 50 times a look-up."""
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

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        if getattr(self._threads, "process", None) == os.getpid():
            self._threads.connection.close()
            del self._threads.connection, self._threads.process

    @contextmanager
    def _first_use(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own to make tables by, while no other process does."""
        # Turning WAL on does not wait for other connections as a transaction does, so the first
        # processes to arrive take turns.
        with FileLock(f"{self.path}.lock", timeout=BUSY_TIMEOUT), self._alone() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            yield connection

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """A connection for this block only."""
        with closing(self._open()) as connection:
            yield connection

    def _open(self) -> sqlite3.Connection:
        # Transactions are begun where they are wanted, not by the module.
        connection = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT, isolation_level=None)
        connection.row_factory = self.ROWS
        # WAL alone may lose the last commits with the power: what was paid for, or a person's work.
        connection.execute("PRAGMA synchronous = FULL")
        return connection
