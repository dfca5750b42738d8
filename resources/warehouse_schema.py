"""What `sql/` declares, and bringing a warehouse's file to it.

What belongs here: finding SQL files, the columns they declare, and the version of a file. What does
not: opening the file and who may write it (`warehouse.py`), what a migration does (`sql/migrations/`).

The version stands in `main.schema_version`, beside the hash of the declarations that the file was last
compared with. Each migration is one transaction with its number; views are made anew with the last one.
"""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from resources.home import REPO_ROOT
from resources.migrations import StoreError, current_version, migrations, missing_steps

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SQL_ROOT = REPO_ROOT / "sql"
STAGES = ("ingest", "cluster", "dialogue", "rewrite", "review", "release", "evaluate", "ledger")
MIGRATIONS = SQL_ROOT / "migrations"

Columns = dict[str, list[tuple[str, str, bool]]]
"""Table or view -> [(column, type, nullable)]."""


class WarehouseError(StoreError):
    """The warehouse cannot be opened or refuses what it was given; the message says what to do."""


@cache
def sql_text(name: str) -> str:
    """Text of `sql/<name>.sql`, for example `cluster/entries`."""
    return (SQL_ROOT / f"{name}.sql").read_text()


@cache
def schema_ddl() -> str:
    """Every stage's tables, in the order of the data flow."""
    return "\n".join(sql_text(f"{stage}/schema") for stage in STAGES)


@cache
def views_ddl() -> str:
    """Every stage's views, in the same order."""
    return "\n".join(
        sql_text(f"{stage}/views") for stage in STAGES if (SQL_ROOT / stage / "views.sql").exists()
    )


@cache
def declared_columns() -> Columns:
    """Table or view -> [(column, type, nullable)], as `sql/` declares it (off an empty database)."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl() + views_ddl())
        return columns_of(connection)


def arrow_schema(table: str) -> "pa.Schema":
    """The columns and types of `table` in Arrow."""
    import duckdb

    declared = declared_columns()[table]
    with duckdb.connect() as connection:
        # JSON travels as its text.
        casts = ", ".join(
            f'NULL::{kind.replace("JSON", "VARCHAR")} AS "{name}"' for name, kind, _ in declared
        )
        return connection.sql(f"SELECT {casts} LIMIT 0").to_arrow_table().schema


def columns_of(connection: "duckdb.DuckDBPyConnection") -> Columns:
    """Table or view -> [(column, type, nullable)], as the open file has it."""
    columns: Columns = {}
    for table, column, kind, nullable in connection.execute(
        sql_text("columns"), {"stages": list(STAGES)}
    ).fetchall():
        columns.setdefault(table, []).append((column, kind, nullable))
    return columns


def bring_up_to_date(connection: "duckdb.DuckDBPyConnection", path: Path) -> None:
    """Make the open file one of this version: its tables, its views. Raises WarehouseError.

    A file without tables gets them as `sql/` declares them, an older one by the migrations it lacks,
    each whole or not at all.
    """
    version, compared_with = _read_version(connection)
    if version is None:
        _transaction(connection, path, [schema_ddl()], current_version(MIGRATIONS), finish=True)
        return
    try:
        steps = missing_steps(MIGRATIONS, path, version)
    except StoreError as error:
        raise WarehouseError(str(error)) from None
    if steps:
        # Before anything is changed: what has another form could be opened by no version afterwards.
        _require_form(connection, _columns_at(version), path, version)
    for step in steps:
        _transaction(connection, path, [step.text()], step.version, finish=step is steps[-1])
    # What is declared may have changed without a migration: views, or a step that somebody forgot.
    if not steps and compared_with != _declared():
        _transaction(connection, path, [], version, finish=True)


@cache
def _declared() -> str:
    return hashlib.sha256((schema_ddl() + views_ddl()).encode()).hexdigest()


def _read_version(connection: "duckdb.DuckDBPyConnection") -> tuple[int | None, str]:
    """The version of the file, None for one to be made, and the declarations it was compared with."""
    columns = connection.execute(sql_text("version_columns")).fetchall()
    if not columns:
        return None, ""
    if columns == [("version", "VARCHAR")]:
        # The first release wrote a hash of sql/ there. Files that it opened with fewer tables than it
        # declared get those from the first migration.
        return 0, ""
    ((version, compared_with),) = connection.execute(sql_text("version_read")).fetchall()
    return version, compared_with


def _transaction(
    connection: "duckdb.DuckDBPyConnection",
    path: Path,
    scripts: Iterable[str],
    version: int,
    *,
    finish: bool,
) -> None:
    """Run scripts and write down the version that they make; with the last ones, make the views."""
    connection.begin()
    for script in scripts:
        for statement in connection.extract_statements(script):
            connection.execute(statement)
    if finish:
        for statement in connection.extract_statements(views_ddl()):
            connection.execute(statement)
        _require_form(connection, declared_columns(), path, version)
    for statement in connection.extract_statements(sql_text("version_write")):
        values = {"version": version, "declared": _declared() if finish else ""}
        connection.execute(statement, {each: values[each] for each in statement.named_parameters})
    connection.commit()


def _columns_at(version: int) -> Columns:
    """The columns that a file of an earlier version has: what the migrations up to it make."""
    import duckdb

    with duckdb.connect() as connection:
        for step in migrations(MIGRATIONS)[: max(version, 1)]:
            connection.execute(step.text())
        return columns_of(connection)


def _require_form(
    connection: "duckdb.DuckDBPyConnection", wanted: Columns, path: Path, version: int
) -> None:
    """Raise WarehouseError unless the tables have these columns; version 0 may lack whole tables.

    What somebody has made beside the tables is theirs.
    """
    found = columns_of(connection)
    wrong = [
        name
        for name, columns in wanted.items()
        if sorted(columns) != sorted(found.get(name, columns if version == 0 else ()))
    ]
    if wrong:
        raise WarehouseError(
            f"{path} has version {version}, but not its form of {', '.join(wrong)}: keep the file, and "
            "open it with the version of vlm-loom that made it, or restore a backup (make restore)."
        )
