"""Primary keys and CHECK constraints on a lake, since DuckLake does not enforce them.

A query finds out if rows may violate a constraint. If they may, the rows are inserted into a temporary
table with the declaration of `sql/`: DuckDB refuses invalid rows, with the same message as on a file.
So the query may raise false alarms, but must not miss a violation. To stage all rows every time would
make a write of 100,000 rows almost twice as slow.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from resources.warehouse.declarations import Column, columns_of, extras_ddl, schema_ddl, sql_text

if TYPE_CHECKING:
    import duckdb

_COMMENT = re.compile(r"--[^\n]*")
_CREATES = re.compile(
    r"\s*(?P<create>CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?)"
    r"(?P<table>(?P<stage>\w+)\.\w+)\s*\("
)


class _Table(NamedTuple):
    """A table that a script of `sql/` creates, with its checks (SQL conditions) and keys."""

    columns: Sequence[Column]
    staged: str
    """The statement that creates a temporary table with the same declaration."""
    checks: Sequence[str]
    keys: Sequence[Sequence[str]]
    """The columns of each key."""


@cache
def tables_with_rules() -> dict[str, _Table]:
    """Return the tables that `sql/` declares, by name, with their keys and checks."""
    return _tables_of(schema_ddl() + extras_ddl())


def _tables_of(script: str) -> dict[str, _Table]:
    import duckdb

    with duckdb.connect() as connection:
        bodies = {}
        for statement in connection.extract_statements(script):
            text = _COMMENT.sub("", statement.query)
            if match := _CREATES.match(text):
                connection.execute(f"CREATE SCHEMA IF NOT EXISTS {match['stage']}; {text}")
                bodies[match["table"]] = text[match.end() :]
        columns = columns_of(connection)
        rules = connection.execute(sql_text("rules")).fetchall()
    return {
        table: _Table(
            columns[table],
            f"CREATE OR REPLACE TEMP TABLE {_staged(table)} ({body}",
            [check for name, check, key in rules if name == table and not key],
            [key for name, _, key in rules if name == table and key],
        )
        for table, body in bodies.items()
    }


def _staged(table: str) -> str:
    """Return the temporary table for rows of a table, with the same name, which error messages show."""
    return f'temp.main."{table.partition(".")[2]}"'


def require_rules(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    partition: Sequence[str],
    register: "Callable[[duckdb.DuckDBPyConnection], None]",
) -> None:
    """Raise duckdb.ConstraintException if new rows violate a key or a check.

    Args:
        connection: A connection in a transaction that has deleted the rows of the partition.
        table: The table for the rows.
        partition: The columns that define the replaced partition. A key that includes them all cannot
            be in another partition, so the rest of the table is not searched for it.
        register: Registers the rows as the view `incoming` of a connection, to be read once per call.
    """
    created = tables_with_rules()[table]
    if not created.checks and not created.keys:
        # The lake itself enforces NOT NULL.
        return
    register(connection)
    rows = _typed(created.columns, {*connection.sql("FROM incoming").columns})
    elsewhere = [
        f"FROM {table} SEMI JOIN ({rows}) USING ({_names(key)})"
        for key in created.keys
        if partition and not {*partition} <= {*key}
    ]
    may_break = [f"SELECT {_may_break(created)} FROM ({rows})"]
    may_break += [f"SELECT EXISTS ({stored})" for stored in elsewhere]
    for query in may_break:
        register(connection)
        ((violations,),) = connection.execute(query).fetchall()
        if violations:
            _stage(connection, table, elsewhere, register)
            return


def _typed(columns: Sequence[Column], columns_given: set[str]) -> str:
    """Make the query of `incoming` with all columns of the table, cast to their types."""
    values = []
    for name, kind, _ in columns:
        value = f'"{name}"' if name in columns_given else "NULL"
        values.append(f'{value}::{kind} AS "{name}"')
    return f"SELECT {', '.join(values)} FROM incoming"


def _may_break(created: _Table) -> str:
    """Make the SQL expression that says if new rows, without stored ones, may violate a constraint."""
    checks = [f"count(*) FILTER (WHERE NOT ({check})) > 0" for check in created.checks]
    nulls = [f'count(*) > count("{name}")' for name, _, nullable in created.columns if not nullable]
    keys = [f"count(*) > count(DISTINCT ({_names(key)}))" for key in created.keys]
    return " OR ".join([*checks, *nulls, *keys])


def _stage(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    elsewhere: Sequence[str],
    register: "Callable[[duckdb.DuckDBPyConnection], None]",
) -> None:
    """Insert the stored rows with the same keys, then the new rows, into a temporary table."""
    stored = []
    for query in elsewhere:
        register(connection)
        stored.append(connection.sql(query).to_arrow_table())
    # A separate cursor: within one transaction, DuckDB's message for a duplicate key is different.
    with closing(connection.cursor()) as other:
        # A progress bar would be printed into the run's log.
        other.execute("SET enable_progress_bar = false")
        other.execute(tables_with_rules()[table].staged)
        for rows in stored:
            other.register("stored", rows)
            other.execute(f"INSERT OR IGNORE INTO {_staged(table)} BY NAME SELECT * FROM stored")
        register(other)
        other.execute(f"INSERT INTO {_staged(table)} BY NAME SELECT * FROM incoming")


def _names(key: Sequence[str]) -> str:
    return ", ".join(f'"{column}"' for column in key)


def run_on_lake(connection: "duckdb.DuckDBPyConnection", script: str) -> None:
    """Run a script of `sql/` on a lake.

    Tables are created without their keys and checks, which a lake does not support.

    Args:
        connection: The connection.
        script: The script.

    Raises:
        duckdb.ConstraintException: Rows that the script inserts violate a key or a check.
    """
    import duckdb

    tables, has_rows = _tables_of(script), False
    for statement in connection.extract_statements(script):
        match = _CREATES.match(_COMMENT.sub("", statement.query))
        if match:
            fields = ", ".join(
                f'"{name}" {kind}{"" if nullable else " NOT NULL"}'
                for name, kind, nullable in tables[match["table"]].columns
            )
            connection.execute(f"{match['create']}{match['table']} ({fields})")
        else:
            connection.execute(statement)
            has_rows |= statement.type == duckdb.StatementType.INSERT
    for table, created in tables.items() if has_rows else ():
        connection.execute(created.staged)
        connection.execute(f"INSERT INTO {_staged(table)} BY NAME SELECT * FROM {table}")
        connection.execute(f"DROP TABLE {_staged(table)}")
