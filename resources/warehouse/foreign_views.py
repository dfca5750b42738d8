"""Views, macros and generated columns of a restored file that could do harm.

DuckDB runs them with the rights of the user. So a view from a stranger could stand in place of a table
and read any file of the machine, and a generated column could need any amount of memory.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from resources.warehouse.declarations import declared_columns, declared_tables, sql_text
from resources.warehouse.duckdb_file import quoted
from resources.warehouse.query_check import SEALED

if TYPE_CHECKING:
    import duckdb


def computed_tables(path: Path) -> list[str]:
    """Return the quoted names of declared tables that are views or have generated columns in a file.

    Nobody may read these.
    """
    tables = {_quoted(table) for table in declared_tables()}
    with _attached(path, " (READ_ONLY)") as connection:
        views = {name for _, name in connection.execute(sql_text("views_and_macros")).fetchall()}
        generated = {
            name for (name,) in connection.execute(sql_text("generated_columns")).fetchall()
        }
    return sorted(tables & (views | generated))


def drop_foreign_views(path: Path) -> list[str]:
    """Drop all macros of a DuckDB file, which nobody uses, and the views that need access to files.

    vlm-loom makes neither. If one is dropped, the views of `sql/` are created again when the file is
    next opened. No view is read. Returns what was dropped and is not created again, such as
    `view "mine"."answers"`.
    """
    import duckdb

    with _attached(path, " (READ_ONLY)") as connection:
        foreign = [
            (kind, name)
            for kind, name in connection.execute(sql_text("views_and_macros")).fetchall()
            if kind != "VIEW" or not _is_readable(connection, name)
        ]
    if foreign:
        with _attached(path) as connection:
            for kind, name in foreign:
                connection.execute(f"DROP {kind} restored.{name}")
            # The version is missing if a view stood in its place.
            with suppress(duckdb.CatalogException, duckdb.BinderException):
                connection.execute("UPDATE restored.main.schema_version SET declared = ''")
    made_again = {_quoted(name) for name in declared_columns()}
    return [f"{kind.lower()} {name}" for kind, name in foreign if name not in made_again]


@contextmanager
def _attached(path: Path, options: str = "") -> "Iterator[duckdb.DuckDBPyConnection]":
    """Attach a file as `restored`, without access to other files. It is not the default database, as
    its macros could then stand in place of functions that are called here.
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {quoted(str(path))} AS restored{options}")
        connection.execute(SEALED)
        yield connection


def _is_readable(connection: "duckdb.DuckDBPyConnection", view: str) -> bool:
    """Tell whether a view has columns without access to files; no row is computed."""
    import duckdb

    try:
        connection.execute(f"DESCRIBE restored.{view}")
    except duckdb.Error:
        return False
    return True


def _quoted(table: str) -> str:
    return ".".join(f'"{part}"' for part in table.split("."))
