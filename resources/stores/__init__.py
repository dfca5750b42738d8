"""Transactional stores in SQLite files or on Postgres: ledger, budgets, reviews and image index.

A store is declared once and runs on both databases::

    METADATA = MetaData()
    FETCHED = Table("fetched", METADATA, text("url", key=True), text("image_id"), sqlite_strict=True)
    INDEX = StoreKind("images", METADATA, Path(__file__).with_name("migrations"))

    store = open_store(INDEX, path)         # the file, or the schema `images` if LOOM_STORES is set
    with store.transaction() as connection: # durable when the block ends; rolled back if it raises
        new = insert_missing(connection.dialect.name, FETCHED)
        connection.execute(new, [{"url": "u", "image_id": "i"}])
    with store.read() as connection: # each statement sees the state of its own time
        rows = connection.execute(select(FETCHED).where(FETCHED.c.url.in_(urls))).all()

- Short statements are SQLAlchemy expressions, long ones `.sql` files with `:name` values for
  `sqlalchemy.text`. A list is an expanding parameter: `bindparam("keys", expanding=True)`.
  Postgres must know the type of a value that may be NULL: write `CAST(:stage AS TEXT) IS NULL`.
- A view or trigger is a `DDL` that an event runs after the tables (`after_create`); one for each
  dialect if they differ, with `execute_if(dialect="sqlite")`.
- If each request runs a statement, build it once at module level: building costs more than running.
- Each transaction and read uses a connection of the engine's pool. Inside a transaction use its
  connection: another one does not see what the transaction has written.
- A violated constraint raises `sqlalchemy.exc.IntegrityError`. Errors of the file, the server or the
  disk raise StoreError with one sentence; StoreUnavailable is for temporary errors. SQLAlchemy's event
  `handle_error` translates them (`SqliteStore.explain`, `postgres.store_error`).
- Store calls block. In an event loop run them in a thread (`asyncio.to_thread`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection

from resources.stores import sqlite
from resources.stores.address import database, packages
from resources.stores.engine import Store, StoreKind
from resources.stores.sqlite import SqliteStore

__all__ = ["Store", "StoreKind", "look", "open_store"]
T = TypeVar("T")


def open_store(kind: StoreKind, path: Path | str) -> Store:
    """Open a store: its SQLite file, or its schema in the database that `LOOM_STORES` names.

    Args:
        kind: The kind of store.
        path: The file.
    """
    address = database()
    if address is None:
        return SqliteStore(kind, path)
    with packages():
        from resources.stores.postgres import open_schema
    return open_schema(kind, address)


def look(kind: StoreKind, path: Path, question: Callable[[Connection], T]) -> T:
    """Query a store on a read-only connection, in one snapshot. A file is neither changed nor created.

    Args:
        kind: The kind of store.
        path: The file.
        question: Called with the connection; it may be called twice.
    """
    if database() is None:
        return sqlite.look(kind, path, question)
    store = open_store(kind, path)
    try:
        with store.streamed() as connection:
            return question(connection)
    finally:
        store.close()
