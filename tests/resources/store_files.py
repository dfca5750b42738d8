"""Every row and the form of stores' files, read without the project's code."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

from resources.warehouse import STAGES

Rows = dict[str, list[Any]]


def rows_of_duckdb(path: Path) -> Rows:
    """Every row of every table of the stages, read without the project's code."""
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute(
            "SELECT schema_name || '.' || table_name FROM duckdb_tables() "
            "WHERE list_contains(?, schema_name)",
            [list(STAGES)],
        ).fetchall()
        return {
            name: [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
            for (name,) in names
            for found in [connection.execute(f"SELECT * FROM {name} ORDER BY ALL")]
            for columns in [[column[0] for column in found.description]]
        }


def rows_of_sqlite(path: Path) -> Rows:
    """Every row of every table but Alembic's."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = connection.execute(
            "SELECT name FROM sqlite_master "
            "WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'"
        ).fetchall()
        return {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2")]
            for (name,) in names
        }


IN_OTHER_WORDS = {
    "CAST('f' AS BOOLEAN)": "false",
    "(NOT (status IN ('answered', 'given')))": "(status NOT IN ('answered', 'given'))",
    'AS "DATE")': "AS DATE)",
}
"""Of declarations: how two versions of DuckDB write the same."""


def form_of_duckdb(path: Path) -> dict[str, list[Any]]:
    """Columns in order, constraints and views, as DuckDB has them, whichever version wrote them."""
    queries = {
        "columns": "SELECT schema_name, table_name, column_index, column_name, data_type, is_nullable, "
        "column_default FROM duckdb_columns() WHERE list_contains($s, schema_name)",
        "constraints": "SELECT schema_name, table_name, constraint_type, constraint_text, "
        "constraint_column_names FROM duckdb_constraints() WHERE list_contains($s, schema_name)",
        "indexes": "SELECT schema_name, table_name, index_name FROM duckdb_indexes()",
        "views": "SELECT schema_name, view_name, sql FROM duckdb_views() "
        "WHERE list_contains($s, schema_name)",
    }
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            name: sorted(
                (
                    tuple(map(_in_our_words, row))
                    for row in connection.execute(
                        query, {"s": list(STAGES)} if "$s" in query else None
                    ).fetchall()
                ),
                key=repr,
            )
            for name, query in queries.items()
        }


def _in_our_words(value: Any) -> Any:
    if isinstance(value, str):
        for theirs, ours in IN_OTHER_WORDS.items():
            value = value.replace(theirs, ours)
    return value


def form_of_sqlite(path: Path) -> dict[str, Any]:
    """The tables with their columns, keys and indexes as SQLite has them, and what declares the views
    and triggers without comments and spacing."""
    with closing(sqlite3.connect(path)) as connection:

        def rows(query: str, *values: str) -> list[Any]:
            return connection.execute(query, values).fetchall()

        form: dict[str, Any] = {}
        for name, kind, _, without_rowid, strict in rows(
            "SELECT name, type, ncol, wr, strict FROM pragma_table_list "
            "WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
        ):
            columns = [
                row[:5]
                for row in rows(
                    'SELECT name, type, "notnull" OR pk, dflt_value, pk FROM pragma_table_info(?)',
                    name,
                )
            ]
            indexes = sorted(
                (
                    [each for (each,) in rows("SELECT name FROM pragma_index_info(?)", index)],
                    unique,
                    partial,
                    origin,
                )
                for index, unique, origin, partial in rows(
                    'SELECT name, "unique", origin, partial FROM pragma_index_list(?)', name
                )
                if origin != "pk"
            )
            form[name] = kind, without_rowid, strict, columns, indexes
        for name, sql in rows(
            "SELECT name, sql FROM sqlite_master WHERE type IN ('view', 'trigger', 'index')"
        ):
            text = (
                re.sub("--[^\n]*", "", sql or "").replace("IF NOT EXISTS", "").replace(chr(34), "")
            )
            form[name] = re.sub(r"\s+", "", text)
    return form


def in_order(rows: list[Any]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def assert_same_rows(found: Rows, wanted: Rows) -> None:
    """The wanted rows; columns that a migration added are NULL."""
    assert set(found) == set(wanted)
    for name, rows in wanted.items():
        known = set(rows[0]) if rows else set()
        added = [value for row in found[name] for key, value in row.items() if key not in known]
        assert set(added) <= {None}, name
        kept = [{key: row[key] for key in row if key in known} for row in found[name]]
        assert in_order(kept) == in_order(rows), name
