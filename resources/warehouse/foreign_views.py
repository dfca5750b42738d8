"""Views and macros of a restored file that this version of `sql/` does not declare.

DuckDB runs them with the rights of the user, so a view from a stranger could stand in place of a table
and read any file of the machine.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from resources.warehouse.declarations import extras_ddl, schema_ddl, sql_text, views_ddl

if TYPE_CHECKING:
    import duckdb


def drop_foreign_views(path: Path) -> list[str]:
    """Drop all views and macros of a DuckDB file, which nobody uses, but those that `sql/` declares.

    If one is dropped, the views of `sql/` are created again when the file is next opened. A view of an
    earlier version counts as foreign, too. No view is read.

    Args:
        path: The file, of any version.

    Returns:
        What was dropped and has not the name of a declared view, such as "view mine.answers".

    Raises:
        duckdb.Error: The file cannot be opened or changed.
    """
    import duckdb

    declared = _declared_programs()
    sealed: dict[str, str | bool | int | float | list[str]] = {"enable_external_access": False}
    with duckdb.connect(str(path), read_only=True, config=sealed) as connection:
        foreign = [
            (kind, name)
            for kind, name, text in _programs(connection)
            if declared.get((kind, name)) != text
        ]
    if foreign:
        with duckdb.connect(str(path), config=sealed) as connection:
            for kind, name in foreign:
                connection.execute(f"DROP {kind} {name}")
            if connection.execute(sql_text("version_columns")).fetchall():
                connection.execute("UPDATE main.schema_version SET declared = ''")
    return [f"{kind.lower()} {name}" for kind, name in foreign if (kind, name) not in declared]


def _declared_programs() -> dict[tuple[str, str], str]:
    """Return (kind, name) -> SQL of the views of `sql/`, in DuckDB's words after it stored them."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/declared.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute(schema_ddl() + extras_ddl() + views_ddl())
        with duckdb.connect(path, read_only=True) as connection:
            return {(kind, name): text for kind, name, text in _programs(connection)}


def _programs(connection: "duckdb.DuckDBPyConnection") -> Iterator[tuple[str, str, str]]:
    """Yield (kind in SQL, quoted name, SQL) of all views and macros of the open database."""
    yield from connection.execute(sql_text("views_and_macros")).fetchall()
