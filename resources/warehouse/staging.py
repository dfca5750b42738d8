"""Keys and checks on a lake: DuckLake has none, so rows are staged in a temporary table with them.

The temporary table has the declaration of `sql/`, and DuckDB itself refuses a row that breaks a key or
a check, in the same words as on a file. NOT NULL is a rule of the lake itself, too.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from resources.warehouse.declarations import (
    Column,
    columns_of,
    extras_ddl,
    schema_ddl,
    sql_text,
)

if TYPE_CHECKING:
    import duckdb

_COMMENT = re.compile(r"--[^\n]*")
_CREATES = re.compile(
    r"\s*(?P<create>CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?)"
    r"(?P<table>(?P<stage>\w+)\.\w+)\s*\("
)


class _Table(NamedTuple):
    """A table that a script of `sql/` creates."""

    columns: Sequence[Column]
    staged: str
    """The statement that creates a temporary table like it."""
    keys: Sequence[Sequence[str]] | None
    """The columns of each key; None of a table that has no keys and no checks."""


@cache
def declared() -> dict[str, _Table]:
    """The tables that `sql/` declares, by name."""
    return _tables_of(schema_ddl() + extras_ddl())


def _tables_of(script: str) -> dict[str, _Table]:
    import duckdb

    with duckdb.connect() as connection:
        bodies = {}
        for statement in connection.extract_statements(script):
            text = _COMMENT.sub("", statement.query)
            if found := _CREATES.match(text):
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {found['stage']}; {text}")
                bodies[found["table"]] = text[found.end() :]
        columns = columns_of(connection)
        keys = dict(connection.execute(sql_text("keys")).fetchall())
    return {
        table: _Table(
            columns[table],
            f"CREATE OR REPLACE TEMP TABLE {_staged(table)} ({body}",
            keys.get(table),
        )
        for table, body in bodies.items()
    }


def _staged(table: str) -> str:
    """The temporary table for rows of a table. It has its name, which DuckDB's errors repeat."""
    return f'temp.main."{table.partition(".")[2]}"'


def stage(connection: "duckdb.DuckDBPyConnection", table: str, partition: Sequence[str]) -> str:
    """Put the rows of the view `incoming`, which are to be added to a table, where its rules hold.

    Args:
        connection: A connection in a transaction that has deleted the rows of the partition.
        table: The table that the rows are for.
        partition: The columns that tell the replaced rows. A key with all of them is in no other
            partition, so the rest of the table is not searched for it.

    Returns:
        The name of what has the rows now.

    Raises:
        duckdb.ConstraintException: A row breaks a key or a check.
    """
    created = declared()[table]
    if created.keys is None:
        return "incoming"
    _insert(connection, table, created, "incoming")
    staged = _staged(table)
    for key in created.keys:
        if partition and not {*partition} <= {*key}:
            names = ", ".join(f'"{column}"' for column in key)
            # A row of the table that has a key of the new ones is refused next to them.
            connection.execute(
                f"INSERT INTO {staged} BY NAME SELECT old.* FROM {table} AS old JOIN "
                f"(SELECT {names}, rowid AS place FROM {staged}) USING ({names}) ORDER BY place LIMIT 1"
            )
    return staged


def _insert(
    connection: "duckdb.DuckDBPyConnection", table: str, created: _Table, source: str
) -> None:
    connection.execute(created.staged)
    connection.execute(f"INSERT INTO {_staged(table)} BY NAME SELECT * FROM {source}")


def run_on_lake(connection: "duckdb.DuckDBPyConnection", script: str) -> None:
    """Run a script of `sql/` on a lake: tables are created without their keys and checks.

    Raises:
        duckdb.ConstraintException: Rows that the script puts into a new table break one of these.
    """
    import duckdb

    tables, has_rows = _tables_of(script), False
    for statement in connection.extract_statements(script):
        found = _CREATES.match(_COMMENT.sub("", statement.query))
        if found:
            fields = ", ".join(
                f'"{name}" {kind}{"" if nullable else " NOT NULL"}'
                for name, kind, nullable in tables[found["table"]].columns
            )
            connection.execute(f"{found['create']}{found['table']} ({fields})")
        else:
            connection.execute(statement)
            has_rows |= statement.type == duckdb.StatementType.INSERT
    for table, created in tables.items() if has_rows else ():
        if created.keys is not None:
            _insert(connection, table, created, table)
            connection.execute(f"DROP TABLE {_staged(table)}")
