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


FORM_OF_DUCKDB = (
    "SELECT schema_name, table_name, column_index, column_name, data_type, is_nullable, "
    "column_default FROM duckdb_columns() WHERE list_contains($s, schema_name)",
    "SELECT schema_name, table_name, constraint_type, constraint_text, constraint_column_names "
    "FROM duckdb_constraints() WHERE list_contains($s, schema_name)",
    "SELECT schema_name, table_name, index_name FROM duckdb_indexes() WHERE $s IS NOT NULL",
    "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE list_contains($s, schema_name)",
)


def form_of_duckdb(path: Path) -> list[list[str]]:
    """Columns in order, constraints and views, as DuckDB has them, whichever version wrote them."""
    with duckdb.connect(str(path), read_only=True) as connection:
        found = [connection.execute(each, {"s": [*STAGES]}).fetchall() for each in FORM_OF_DUCKDB]
    return [sorted(_in_our_words(" | ".join(map(str, row))) for row in rows) for rows in found]


def _in_our_words(text: str) -> str:
    for theirs, ours in IN_OTHER_WORDS.items():
        text = text.replace(theirs, ours)
    return text


FORM_OF_SQLITE = (
    'SELECT t.name, wr, strict, cid, c.name, c.type, "notnull" OR pk, dflt_value, pk '
    "FROM pragma_table_list AS t, pragma_table_info(t.name) AS c WHERE t.type = 'table'",
    'SELECT t.name, l."unique", origin, partial, group_concat(i.name) FROM pragma_table_list AS t, '
    "pragma_index_list(t.name) AS l, pragma_index_info(l.name) AS i WHERE origin <> 'pk' "
    "GROUP BY t.name, l.name",
)


def form_of_sqlite(path: Path) -> list[list[str]]:
    """The columns of the tables with their keys, the indexes as SQLite has them, and what declares
    views, triggers and indexes, without comments and spacing."""
    query = "SELECT name, sql FROM sqlite_master WHERE type IN ('view', 'trigger', 'index')"
    with closing(sqlite3.connect(path)) as connection:
        form = [sorted(map(repr, connection.execute(each))) for each in FORM_OF_SQLITE]
        declared = dict(connection.execute(query).fetchall())
    texts = [f"{name} {sql}" for name, sql in declared.items()]
    return [*form, sorted(re.sub(r'--[^\n]*|\s+|IF NOT EXISTS|"', "", text) for text in texts)]


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
