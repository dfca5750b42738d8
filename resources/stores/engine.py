"""The interface of stores: SQLAlchemy connections and transactions on SQLite and Postgres."""

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sqlalchemy import (
    Connection,
    Engine,
    ExceptionContext,
    MetaData,
    NullPool,
    create_engine,
    event,
)

from resources.migrations import StoreError, current_version

RESTORE = (
    "restore a backup (vlm-loom workspace restore), or, to begin without it, move it and any -wal file "
    "next to it into another folder"
)
_ENGINES: "weakref.WeakSet[Engine]" = weakref.WeakSet()


@dataclass(frozen=True, eq=False)
class StoreKind:
    """A kind of store: its name, its tables and their migrations.

    Attributes:
        name: The name of the store's schema on Postgres.
        metadata: The tables, with their views and triggers as DDL after the tables.
        steps: The folder with the store's Alembic revisions (`versions.py`); it need not exist.
        outlives_power: Whether a commit must survive a power failure.
        if_damaged: The advice for a damaged file.
    """

    name: str
    metadata: MetaData
    steps: Path
    outlives_power: bool = True
    if_damaged: str = RESTORE

    def newest_version(self) -> int:
        """Return the version of a store after this version of vlm-loom has opened and upgraded it."""
        return current_version(self.steps)

    def damage_error(self, path: Path, reason: object) -> StoreError:
        """Return the error for a damaged file.

        Args:
            path: The file.
            reason: What is damaged.
        """
        return StoreError(f"{path} is damaged ({reason}): {self.if_damaged}.")


class Store(Protocol):
    """An open store; safe among threads, and in child processes after a fork."""

    kind: StoreKind
    shown: str
    """The name of the store in messages."""

    def read(self) -> AbstractContextManager[Connection]:
        """Open a connection for reads; each statement sees all rows that are committed at its time."""

    def snapshot(self) -> AbstractContextManager[Connection]:
        """Open a connection for several reads that all see the same state of the store."""

    def streamed(self) -> AbstractContextManager[Connection]:
        """Open a `snapshot` whose rows are streamed from a server."""

    def transaction(self, *, in_turn: bool = True) -> AbstractContextManager[Connection]:
        """Open a connection in a transaction, which is durable when the block ends.

        Args:
            in_turn: Whether to wait until no other transaction with `in_turn` is open. A SQLite file
                has one writer at a time in any case.
        """

    def erasing(self) -> AbstractContextManager[Connection]:
        """Open a transaction whose deleted rows leave no trace in the files."""

    def require_in_place(self) -> None:
        """Raise StoreError if the store was deleted or replaced since it was opened."""

    def damage_error(self, reason: str) -> StoreError:
        """Return the error for content that cannot be read, with the advice for this store."""

    def close(self) -> None:
        """Close the idle connections. A later use opens new ones."""


@contextmanager
def connected(connect: Callable[[], sqlite3.Connection]) -> Iterator[Connection]:
    """Open a separate connection to a SQLite file, by `connect`, without translation of errors."""
    engine = create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)
    with engine.connect() as connection:
        yield connection


def in_memory() -> sqlite3.Connection:
    """Open an empty SQLite database in memory."""
    return sqlite3.connect(":memory:", isolation_level=None)


def track_engine(engine: Engine, explain: Callable[[BaseException], BaseException]) -> Engine:
    """Translate the errors of an engine, and keep its connections out of child processes.

    Args:
        engine: A new engine.
        explain: Returns the StoreError for an error of the driver, or the error itself.
    """
    _ENGINES.add(engine)

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> BaseException | None:
        if context.is_pre_ping:
            return None  # The pool replaces the connection.
        explained = explain(context.original_exception)
        return None if explained is context.original_exception else explained

    return engine


def _forget_connections() -> None:
    """Drop all connections in a child process, which must not use those of its parent."""
    for engine in _ENGINES:
        engine.dispose(close=False)


os.register_at_fork(after_in_child=_forget_connections)
