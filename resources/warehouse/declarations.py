"""The declarations in `sql/`: tables and views with their columns, and the columns' descriptions.

They are read from an empty in-memory database, so that only DuckDB parses SQL.
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
"""(name, type, nullable)."""
Columns = dict[str, list[Column]]
"""Table or view -> its columns."""
FINDINGS = "evaluate.findings"
_VIEW_OF_FINDINGS = re.compile(rf"VIEW (\S+) AS FROM {FINDINGS}\b")


class WarehouseError(StoreError):
    """The warehouse cannot be opened, or refuses a write; the message says what to do."""


def sql_files(name: str) -> list[Path]:
    """The files `<name>.sql` in `sql/` and in the like folders of extras."""
    paths = (folder / f"{name}.sql" for folder in (SQL_ROOT, *folders("sql")))
    return [path for path in paths if path.is_file()]


@cache
def sql_text(name: str) -> str:
    """Text of `sql/<name>.sql`, for example `cluster/entries`; what a stage declares is in several."""
    files = sql_files(name)
    if not files:
        raise FileNotFoundError(f"There is no {name}.sql.")
    return "\n".join(path.read_text() for path in files)


@cache
def schema_ddl() -> str:
    """Every stage's tables, in the order of the data flow."""
    return "\n".join(sql_text(f"{stage}/schema") for stage in STAGES)


@cache
def views_ddl() -> str:
    """Every stage's views, in the same order."""
    return "\n".join(sql_text(f"{stage}/views") for stage in STAGES if sql_files(f"{stage}/views"))


@cache
def extras_ddl() -> str:
    """The tables of extras, made where they are missing: an extra comes without a migration."""
    paths = (path for folder in folders("sql") for path in sorted(folder.glob("*/schema.sql")))
    return "\n".join(path.read_text() for path in paths)


@cache
def declared_columns() -> Columns:
    """Table or view -> [(column, type, nullable)], as `sql/` declares it (off an empty database)."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl() + views_ddl())
        return columns_of(connection)


@cache
def declared_tables() -> Columns:
    """The same of the tables alone, without views."""
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(schema_ddl())
        return columns_of(connection)


def column_descriptions(table: str) -> dict[str, str | None]:
    """Return the description of each column of a table or view; None for a column without one.

    `sql/fields.toml` describes columns by name; `sql/<stage>/fields.toml` overrides it for a stage or a
    table. The descriptions are not stored in the database: DuckDB cannot replay a comment on a table
    with checks from its log, so a file whose writer was killed could not be opened.
    """
    of_stage = _fields(f"{table.partition('.')[0]}/fields")
    of_findings = table in _VIEW_OF_FINDINGS.findall(views_ddl())
    of_table = of_stage.get(FINDINGS if of_findings else table, {})
    texts = {**_fields("fields"), **of_stage, **of_table}
    return {column: texts.get(column) for column, *_ in declared_columns()[table]}


@cache
def _fields(name: str) -> dict[str, Any]:
    """The descriptions of `<name>.toml` in `sql/` and in the folders of extras, by column and by
    table.
    """
    fields: dict[str, Any] = {}
    for folder in (*folders("sql"), SQL_ROOT):
        path = folder / f"{name}.toml"
        if path.exists():
            fields |= tomllib.loads(path.read_text(encoding="utf-8"))
    return fields


def arrow_schema(table: str) -> "pa.Schema":
    """The columns and types of `table` in Arrow."""
    return _arrow_schemas()[table]


@cache
def _arrow_schemas() -> "dict[str, pa.Schema]":
    """The Arrow schemas of all tables and views from one query, which is twenty times faster than
    one each.
    """
    import duckdb
    import pyarrow as pa

    # JSON travels as its text.
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
    """Table or view -> [(column, type, nullable)], as the open file has it."""
    columns: Columns = {}
    # Without a parameter, whose value would make DuckDB load pandas.
    for table, column, kind, nullable in connection.execute(sql_text("columns")).fetchall():
        if table.partition(".")[0] in STAGES:
            columns.setdefault(table, []).append((column, kind, nullable))
    return columns
