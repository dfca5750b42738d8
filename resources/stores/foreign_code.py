"""Triggers and views of a SQLite file that vlm-loom did not declare, or changed under their names.

SQLite would run them at each query: they could change what is stored, or run without end.
"""

import sqlite3
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from resources.stores import versions
from resources.stores.engine import StoreKind, connected, in_memory

_CODE = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
Code = dict[tuple[str, str], str]
"""The statements that created triggers and views, by type and name."""


def declare_code(connection: Connection, kind: StoreKind | None) -> list[str]:
    """Replace the triggers and views of a file of the newest version by those that its kind declares.

    Args:
        connection: The open connection, in a transaction of the caller.
        kind: The kind of the store; None for a file of another program, which keeps none.

    Returns:
        The triggers and views that were dropped, and are not declared.
    """
    declared, present = _declared(kind) if kind else {}, _code(connection)
    if present == declared:
        return []
    quoted = connection.dialect.identifier_preparer.quote_identifier
    for type_, name in present:
        connection.exec_driver_sql(f"DROP {type_} {quoted(name)}")
    for statement in declared.values():
        connection.exec_driver_sql(statement)
    return sorted(f"{type_} {name}" for type_, name in present.keys() - declared.keys())


def declare_code_of_file(path: Path, kind: StoreKind | None) -> list[str]:
    """Do the same to a file that nobody uses. A file of an older version is left to its upgrade.

    Args:
        path: The file.
        kind: The kind of the store, or None, as of `declare_code`.

    Returns:
        The triggers and views that were dropped, and are not declared.

    Raises:
        sqlite3.Error: The file cannot be read or written.
    """
    try:
        with connected(lambda: sqlite3.connect(path, isolation_level=None)) as connection:
            if kind and versions.recorded_version(connection) != kind.newest_version():
                return []
            connection.exec_driver_sql("BEGIN")
            dropped = declare_code(connection, kind)
            connection.commit()
    except DBAPIError as error:
        raise sqlite3.DatabaseError(str(error.orig)) from error
    return dropped


def _declared(kind: StoreKind) -> Code:
    """Return the triggers and views of a new store."""
    with connected(in_memory) as connection:
        versions.create(connection, kind)
        return _code(connection)


def _code(connection: Connection) -> Code:
    return {(type_, name): sql for type_, name, sql in connection.exec_driver_sql(_CODE)}
