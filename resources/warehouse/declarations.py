"""The schema that `sql/` declares: tables and views with their columns, and descriptions of columns.

To read it, the DDL runs in an empty in-memory database, so that only DuckDB parses SQL.
"""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.files.home import REPO_ROOT
from resources.migrations import StoreError
from resources.settings.extras import folders

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SQL_ROOT = REPO_ROOT / "sql"
STAGES = (
    "ingest",
    "cluster",
    "dialogue",
    "rewrite",
    "choice",
    "quality",
    "review",
    "release",
    "evaluate",
    "ledger",
)

Column = tuple[str, str, bool]
"""(name, DuckDB type, nullable)."""
Columns = dict[str, list[Column]]
"""Table or view -> its columns."""
FINDINGS = "evaluate.findings"
_VIEW_OF_FINDINGS = re.compile(rf"VIEW (\S+) AS FROM {FINDINGS}\b")


class WarehouseError(StoreError):
    """The warehouse cannot be opened, or refuses a write; the message says what to do."""


def sql_files(name: str) -> list[Path]:
    """Return the existing files `<name>.sql` in `sql/` and in the folders `sql` of extras."""
    paths = (folder / f"{name}.sql" for folder in (SQL_ROOT, *folders("sql")))
    return [path for path in paths if path.is_file()]


@cache
def sql_text(name: str) -> str:
    """Read `sql/<name>.sql`, for example `cluster/entries`, and files of the same name in extras."""
    files = sql_files(name)
    if not files:
        raise FileNotFoundError(f"There is no {name}.sql.")
    return "\n".join(path.read_text() for path in files)


@cache
def schema_ddl() -> str:
    """Return the DDL of all stages' tables, in the order of the data flow."""
    return "\n".join(sql_text(f"{stage}/schema") for stage in STAGES)


@cache
def views_ddl() -> str:
    """Return the DDL of all stages' views, in the order of the data flow."""
    return "\n".join(sql_text(f"{stage}/views") for stage in STAGES if sql_files(f"{stage}/views"))


@cache
def extras_ddl() -> str:
    """Return the DDL of the extras' tables, which creates missing ones: extras have no migrations."""
    paths = (path for folder in folders("sql") for path in sorted(folder.glob("*/schema.sql")))
    return "\n".join(path.read_text() for path in paths)


@cache
def declared_columns() -> Columns:
    """Return table or view -> [(column, type, nullable)], as `sql/` declares it."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl() + views_ddl())
        return columns_of(connection)


@cache
def declared_tables() -> Columns:
    """Return table -> [(column, type, nullable)], as `sql/` declares it, without views."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl())
        return columns_of(connection)


def column_descriptions(table: str) -> dict[str, str | None]:
    """Return the description of each column of a table or view; None for a column without one.

    `sql/fields.toml` describes columns by name; `sql/<stage>/fields.toml` overrides it for a stage or a
    table. The descriptions are not stored in the database as comments. DuckDB cannot replay a comment
    on a table with checks from its log, so after a killed write the file could not be opened.
    """
    of_stage = _fields(f"{table.partition('.')[0]}/fields")
    of_findings = table in _VIEW_OF_FINDINGS.findall(views_ddl())
    of_table = of_stage.get(FINDINGS if of_findings else table, {})
    texts = {**_fields("fields"), **of_stage, **of_table}
    return {column: texts.get(column) for column, *_ in declared_columns()[table]}


@cache
def _fields(name: str) -> dict[str, Any]:
    """Read the descriptions in `<name>.toml` in `sql/` and in extras, by column and by table."""
    fields: dict[str, Any] = {}
    for folder in (*folders("sql"), SQL_ROOT):
        path = folder / f"{name}.toml"
        if path.exists():
            fields |= tomllib.loads(path.read_text(encoding="utf-8"))
    return fields


def arrow_schema(table: str) -> "pa.Schema":
    """Return the Arrow schema of a table or view."""
    return _arrow_schemas()[table]


@cache
def _arrow_schemas() -> "dict[str, pa.Schema]":
    """Make the Arrow schemas of all tables and views with one query, 20 times faster than one each."""
    import duckdb
    import pyarrow as pa

    # Arrow gets JSON as text.
    casts = ", ".join(
        f'NULL::{kind.replace("JSON", "VARCHAR")} AS "{name}"'
        for columns in declared_columns().values()
        for name, kind, _ in columns
    )
    with duckdb.connect() as connection:
        fields = iter(connection.sql(f"SELECT {casts} LIMIT 0").to_arrow_table().schema)
    return {
        table: pa.schema([next(fields).with_name(name) for name, *_ in columns])
        for table, columns in declared_columns().items()
    }


def columns_of(connection: "duckdb.DuckDBPyConnection") -> Columns:
    """Return table or view -> [(column, type, nullable)], as the open database has it."""
    columns: Columns = {}
    # The query has no parameters, since their values would make DuckDB import pandas.
    for table, column, kind, nullable in connection.execute(sql_text("columns")).fetchall():
        if table.partition(".")[0] in STAGES:
            columns.setdefault(table, []).append((column, kind, nullable))
    return columns
