"""Triggers, views and indexes of a SQLite file that are not as vlm-loom declares them.

SQLite would run triggers and views at each query, and compute the expressions of indexes at each check:
they could change what is stored, or run without end.
"""

import sqlite3
from pathlib import Path

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from resources.stores import versions
from resources.stores.engine import StoreKind, connected, in_memory

_CODE = """
SELECT type, name, sql FROM sqlite_master
WHERE type IN ('trigger', 'view', 'index') AND sql IS NOT NULL
"""
Code = dict[tuple[str, str], str]
"""The statements that created triggers, views and indexes, by type and name."""


def declare_code(connection: Connection, kind: StoreKind | None) -> list[str]:
    """Give a file of the newest version the triggers, views and indexes that its kind declares.

    Args:
        connection: The open connection, in a transaction of the caller.
        kind: The kind of the store; None for a file of another program, which keeps its indexes.

    Returns:
        The triggers, views and indexes that were dropped, and are not declared.
    """
    present = _code(connection)
    if kind:
        declared = _declared(kind)
    else:
        declared = {key: sql for key, sql in present.items() if key[0] == "index"}
    quoted = connection.dialect.identifier_preparer.quote_identifier
    for (type_, name), sql in present.items():
        if declared.get((type_, name)) != sql:
            # The triggers of a view go with it.
            connection.exec_driver_sql(f"DROP {type_} IF EXISTS {quoted(name)}")
    if present != declared:
        remaining = _code(connection)
        for key, sql in declared.items():
            if key not in remaining:
                connection.exec_driver_sql(sql)
    return sorted(f"{type_} {name}" for type_, name in present.keys() - declared.keys())


def declare_code_of_file(path: Path, kind: StoreKind | None) -> list[str]:
    """Do the same to a file that nobody uses. A file of an older version is left to its upgrade.

    Args:
        path: The file.
        kind: The kind of the store, or None, as of `declare_code`.

    Returns:
        The triggers, views and indexes that were dropped, and are not declared.

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
    with connected(in_memory) as connection:
        versions.create(connection, kind)
        return _code(connection)


def _code(connection: Connection) -> Code:
    return {(type_, name): sql for type_, name, sql in connection.exec_driver_sql(_CODE)}
