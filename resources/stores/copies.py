"""Copying of stores: from a file or database to a new file, and from a file to a database."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Table, insert, select, text

from resources.migrations import StoreError
from resources.stores import look, open_store, sqlite
from resources.stores.address import VARIABLE, database
from resources.stores.engine import Store, StoreKind
from resources.stores.inserts import insert_missing

_ROWS_AT_ONCE = 1000


def copy_store(kind: StoreKind, path: Path, target: Path) -> None:
    """Copy a snapshot of a store to a new SQLite file, while others write to the store.

    Args:
        kind: The kind of store.
        path: The file of the store; not used if the store is in a database.
        target: The new file.
    """
    if database() is None:
        sqlite.copy_sqlite(path, target)
        return
    copy = sqlite.SqliteStore(kind, target)

    def copied(source: Connection) -> None:
        with copy.transaction() as connection:
            for table in kind.metadata.sorted_tables:
                for rows in _rows(source, table):
                    connection.execute(insert(table), rows)

    look(kind, path, copied)
    copy.close()


def fill_store(kind: StoreKind, path: Path) -> int | None:
    """Copy the rows of a file into the database.

    Rows are copied in batches, and an interrupted copy can continue. At the end, each row of the file
    is compared with the database.

    Args:
        kind: The kind of the store.
        path: Its file, which nobody writes.

    Returns:
        The number of rows; None if they were copied before.

    Raises:
        StoreError: The database already has other rows, or rows of another file.
    """
    store = open_store(kind, path)
    try:
        sqlite.SqliteStore(kind, path).close()
        return sqlite.look(kind, path, lambda source: _fill(store, path, source))
    finally:
        store.close()


def _fill(store: Store, path: Path, source: Connection) -> int | None:
    tables = store.kind.metadata.sorted_tables
    if _is_filled(store, path, tables):
        return None
    for table in tables:
        for rows in _rows(source, table):
            with store.transaction(in_turn=False) as connection:
                # Rows of an interrupted copy exist already.
                connection.execute(insert_missing(connection.dialect.name, table), rows)
    n_rows = sum(_compare(store, table, source) for table in tables)
    with store.transaction() as connection:
        for table in tables:
            _number_on(connection, store.kind.name, table)
        connection.exec_driver_sql("UPDATE loom_filled SET whole = true")
    return n_rows


def _rows(source: Connection, table: Table) -> Iterator[list[dict[str, Any]]]:
    result = source.execute(select(table)).mappings()
    for rows in result.partitions(_ROWS_AT_ONCE):
        yield [dict(row) for row in rows]


def _is_filled(store: Store, path: Path, tables: list[Table]) -> bool:
    """Whether this file was copied completely before. Raises StoreError if the database has other rows.
    Records the file as the source of the database's rows."""
    with store.transaction() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS loom_filled (source text, whole boolean)"
        )
        begun = connection.exec_driver_sql("SELECT source, whole FROM loom_filled").fetchone()
        if begun is None:
            if full := _tables_with_rows(connection, tables):
                raise StoreError(
                    f"{store.shown} has rows of its own ({', '.join(full)}): set {VARIABLE} to a "
                    "database that nothing has used, to move a workspace there."
                )
            begin = text("INSERT INTO loom_filled VALUES (:source, false)")
            connection.execute(begin, {"source": str(path)})
        elif begun[0] != str(path):
            raise StoreError(
                f"{store.shown} has the rows of {begun[0]}: set {VARIABLE} to a database that nothing "
                "has used, to bring another home there."
            )
        return begun is not None and bool(begun[1])


def claim_database(store: Store) -> bool:
    """Record that a workspace uses the database of a store. Returns whether none did before."""
    with store.transaction() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE IF NOT EXISTS loom_used (is_used boolean PRIMARY KEY)"
        )
        claim = "INSERT INTO loom_used VALUES (true) ON CONFLICT DO NOTHING"
        return connection.exec_driver_sql(claim).rowcount == 1


def has_rows(store: Store) -> bool:
    """Whether any table of a store has rows."""
    with store.read() as connection:
        return bool(_tables_with_rows(connection, store.kind.metadata.sorted_tables))


def _tables_with_rows(connection: Connection, tables: list[Table]) -> list[str]:
    return [
        table.name
        for table in tables
        if connection.execute(select(table).limit(1)).first() is not None
    ]


def _compare(store: Store, table: Table, source: Connection) -> int:
    """Compare each row of a table; return the number of rows. Raises StoreError if a row differs."""
    order = list(table.primary_key.columns) or list(table.columns)
    query = select(table).order_by(*order)
    number = 0
    with store.streamed() as target:
        pairs = zip_longest(source.execute(query), target.execute(query))
        for number, (mine, theirs) in enumerate(pairs, start=1):
            if not _same(mine, theirs):
                raise StoreError(
                    f"{table.name} of {store.shown} differs from the file in row {number}: stop what "
                    "writes there, rename its schema (ALTER SCHEMA ... RENAME TO ...), which keeps "
                    "the rows, and move the workspace again."
                )
    return number


def _same(mine: Row[Any] | None, theirs: Row[Any] | None) -> bool:
    return mine is not None and theirs is not None and tuple(mine) == tuple(theirs)


def _number_on(connection: Connection, schema: str, table: Table) -> None:
    for column in table.columns:
        if column.identity is not None:
            connection.exec_driver_sql(
                f'SELECT setval(pg_get_serial_sequence(\'"{schema}"."{table.name}"\', '
                f"'{column.name}'), max({column.name})) FROM \"{table.name}\" "
                f"HAVING max({column.name}) IS NOT NULL"
            )
