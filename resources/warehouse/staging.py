"""Keys and checks on a lake, which DuckLake does not have.

A query tells whether rows may break one. If they may, they are staged in a temporary table that has the
declaration of `sql/`, and DuckDB itself refuses them, in the same words as on a file. So the query only
has to miss nothing. Staging every row would make a write of 100,000 rows take almost twice as long.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
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
    checks: Sequence[str]
    keys: Sequence[Sequence[str]]
    """The columns of each key."""


@cache
def tables_with_rules() -> dict[str, _Table]:
    """The tables that `sql/` declares, by name."""
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
    """The temporary table for rows of a table. It has its name, which DuckDB's errors repeat."""
    return f'temp.main."{table.partition(".")[2]}"'


def require_rules(
    connection: "duckdb.DuckDBPyConnection",
    table: str,
    partition: Sequence[str],
    register: "Callable[[duckdb.DuckDBPyConnection], None]",
) -> None:
    """Raise duckdb.ConstraintException if rows that are to be added break a key or a check.

    Args:
        connection: A connection in a transaction that has deleted the rows of the partition.
        table: The table that the rows are for.
        partition: The columns that tell the replaced rows. A key with all of them is in no other
            partition, so the rest of the table is not searched for it.
        register: Makes the rows the view `incoming` of a connection, which may be read once each time.
    """
    created = tables_with_rules()[table]
    if not created.checks and not created.keys:
        # NOT NULL is a rule of the lake itself.
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
    """The rows of `incoming` with all columns of the table, as it would have them."""
    values = []
    for name, kind, _ in columns:
        value = f'"{name}"' if name in columns_given else "NULL"
        values.append(f'{value}::{kind} AS "{name}"')
    return f"SELECT {', '.join(values)} FROM incoming"


def _may_break(created: _Table) -> str:
    """An expression over rows: whether they may break a rule by themselves."""
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
    """Add the rows to a temporary table after stored ones, which have a key of theirs."""
    stored = []
    for query in elsewhere:
        register(connection)
        stored.append(connection.sql(query).to_arrow_table())
    # DuckDB has other words for a key of a row that this transaction has added.
    with closing(connection.cursor()) as other:
        # It would be drawn into the run's log.
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

    Tables are created without their keys and checks, which a lake lacks.

    Args:
        connection: The connection.
        script: The script.

    Raises:
        duckdb.ConstraintException: Rows that the script puts into a new table break a key or a check.
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
