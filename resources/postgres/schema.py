"""One store on Postgres: a schema of the database, with the tables of a SQLite file.

What belongs here: sessions, transactions, versions. What is in the tables is their owner's.
"""

import os
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from resources.migrations import StoreError, migrations
from resources.postgres.connection import PostgresConnection, named_row
from resources.postgres.dialect import declarations
from resources.sqlite_file import SqliteFile
from resources.stores.address import shown_address

T = TypeVar("T")


class PostgresSchema:
    """The store of a kind of file in the database at `address`; one session for each thread.

    Opening it makes its schema, or brings it to the current version, once for all processes that begin
    at the same time. Raises StoreError where the database cannot be used, or a later version made it.
    """

    def __init__(self, kind: type[SqliteFile], address: str):
        self._kind, self._address = kind, address
        self._lock = zlib.crc32(kind.NAME.encode()) >> 1
        self.shown = f"{shown_address(address)} (schema {kind.NAME})"
        self._threads = threading.local()
        self._bring_up_to_date()

    @property
    def connection(self) -> PostgresConnection:
        """This thread's session, opened when first used."""
        # A child process must not go on with its parent's.
        if getattr(self._threads, "process", None) != os.getpid():
            self._threads.connection = self._open()
            self._threads.process = os.getpid()
        connection: PostgresConnection = self._threads.connection
        return connection

    @contextmanager
    def transaction(self, *, in_turn: bool = True) -> Iterator[PostgresConnection]:
        """This thread's session inside a transaction, durable when the block ends.

        `in_turn` writers follow each other; others write at the same time.
        """
        connection = self.connection
        with connection.transaction(self._lock if in_turn else None):
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[PostgresConnection]:
        """This thread's session for several reads of one state of the store."""
        connection = self.connection
        with connection.snapshot():
            yield connection

    @contextmanager
    def alone(self) -> Iterator[PostgresConnection]:
        """A session for this block only, which reads one state, row by row."""
        connection = self._open()
        try:
            with connection.snapshot(streamed=True):
                yield connection
        finally:
            connection.close()

    @contextmanager
    def erasing(self) -> Iterator[PostgresConnection]:
        """A transaction after which what it removed is freed."""
        with self.transaction() as connection:
            yield connection
        connection.native("VACUUM")

    def look(self, question: Callable[[PostgresConnection], T]) -> T:
        """What `question` finds through a session that only reads, as the store is at one moment."""
        with self.alone() as connection:
            return question(connection)

    def number_on(self, connection: PostgresConnection, table: str) -> None:
        """Let the numbers that the table gives its rows go on from those that it has."""
        columns = connection.native(
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = $1 AND table_name = $2 AND is_identity = 'YES'",
            [self._kind.NAME, table],
        ).fetchall()
        for (column,) in columns:
            connection.native(
                f'SELECT setval(pg_get_serial_sequence($1, $2), max("{column}")) FROM "{table}" '
                f'HAVING max("{column}") IS NOT NULL',
                [f'"{self._kind.NAME}"."{table}"', column],
            )

    def require_in_place(self) -> None:
        """Nothing: who finds the server away says so."""

    def close(self) -> None:
        """End this thread's session; the next use begins another."""
        if getattr(self._threads, "process", None) == os.getpid():
            self._threads.connection.close()
            del self._threads.connection, self._threads.process

    def _open(self) -> PostgresConnection:
        rows = None if self._kind.ROWS is None else named_row
        settings = {} if self._kind.OUTLIVES_POWER else {"synchronous_commit": "off"}
        return PostgresConnection(self._address, self._kind.NAME, self.shown, settings, rows)

    def _bring_up_to_date(self) -> None:
        connection, newest = self.connection, self._kind.newest_version()
        version = self._version(connection)
        if version == newest:
            return
        with connection.transaction(self._lock):
            # Another process may have been quicker.
            version = self._version(connection)
            if version > newest:
                raise StoreError(
                    f"{self.shown} has version {version} and this version of vlm-loom knows versions "
                    f"up to {newest}: a newer or another version of vlm-loom made it. Update vlm-loom "
                    "on this machine."
                )
            scripts = [path.read_text(encoding="utf-8") for path in self._kind.SCHEMA]
            if version:
                steps = migrations(self._kind.migrations_folder())
                scripts = [step.text() for step in steps if step.version > version]
            else:
                connection.native(f'CREATE SCHEMA IF NOT EXISTS "{self._kind.NAME}"')
                connection.native("CREATE TABLE loom_version (version bigint NOT NULL)")
                connection.native("INSERT INTO loom_version VALUES (0)")
            for script in scripts:
                for statement in declarations(script):
                    connection.native(statement)
            connection.native("UPDATE loom_version SET version = $1", [newest])

    def _version(self, connection: PostgresConnection) -> int:
        """The version of the store; 0 where there is none."""
        # The rows of the catalogue: `to_regclass` may say what was so before another process was done.
        there = connection.native(
            "SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'loom_version'",
            [self._kind.NAME],
        ).fetchone()
        if not there:
            return 0
        return int(connection.native("SELECT version FROM loom_version").fetchone()[0])
