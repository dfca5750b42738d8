"""What `sql/` declares, and bringing a warehouse's file to it.

What belongs here: finding SQL files, the columns they declare and what these mean, and the version of
a file. What does not: opening the file and who may write it (`warehouse.py`), what a migration does
(`sql/migrations/`).

The version stands in `main.schema_version`, beside the hash of the declarations that the file was last
compared with. Each migration is one transaction with its number; views are made anew with the last one,
or by themselves when `sql/` declares others, and so are tables of extras that a file lacks.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resources.files.home import REPO_ROOT
from resources.migrations import (
    BASELINE,
    Migration,
    StoreError,
    another_version,
    current_version,
    migrations,
    missing_steps,
    require_kept,
)
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
MIGRATIONS = SQL_ROOT / "migrations"

Column = tuple[str, str, bool]
"""(name, type, nullable)."""
Columns = dict[str, list[Column]]
"""Table or view -> its columns."""
RunScript = Callable[["duckdb.DuckDBPyConnection", str], None]
FINDINGS = "evaluate.findings"
_OF_SECOND = "evaluate.site"
"""The table that the second step makes."""
_VIEW_OF_FINDINGS = re.compile(rf"VIEW (\S+) AS FROM {FINDINGS}\b")


class WarehouseError(StoreError):
    """The warehouse cannot be opened or refuses what it was given; the message says what to do."""


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
    """What each column of a table or view means; None where nothing says it.

    The text is that of the column's name in `sql/fields.toml`, unless `sql/<stage>/fields.toml` has
    another one for its stage or for the table. The file does not have them: DuckDB cannot replay a
    comment on a table with checks from its log, so a file whose writer was killed right after it could
    not be opened any more.
    """
    of_stage = _fields(f"{table.partition('.')[0]}/fields")
    of_findings = table in _VIEW_OF_FINDINGS.findall(views_ddl())
    of_table = of_stage.get(FINDINGS if of_findings else table, {})
    texts = {**_fields("fields"), **of_stage, **of_table}
    return {column: texts.get(column) for column, *_ in declared_columns()[table]}


@cache
def _fields(name: str) -> dict[str, Any]:
    """What `<name>.toml` says in `sql/` and the like folders of extras: name of a column to its text,
    table to the same of its own."""
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
    """Those of every table and view, off one query: one for each would take twenty times as long."""
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


def run_script(connection: "duckdb.DuckDBPyConnection", script: str) -> None:
    """Run the statements of a script in the open transaction."""
    for statement in connection.extract_statements(script):
        connection.execute(statement)


def bring_up_to_date(
    connection: "duckdb.DuckDBPyConnection", path: Path | str, run: RunScript = run_script
) -> None:
    """Make the open file one of this version: its tables, its views. Raises WarehouseError.

    A file without tables gets them as `sql/` declares them, an older one by the migrations it lacks,
    each whole or not at all. `path` names it in sentences, `run` runs a script of `sql/` on it.
    """
    # Before anything is changed: what has another form could be opened by no version afterwards.
    version, compared_with, steps = upgrade_steps(connection, path)
    if version is None:
        _transaction(
            connection, path, [schema_ddl()], current_version(MIGRATIONS), run, finish=True
        )
        return
    for step in steps:
        _transaction(connection, path, [step.text()], step.version, run, finish=step is steps[-1])
    # What is declared may have changed without a migration: views, or a forgotten step.
    if not steps and compared_with != _declared():
        _transaction(connection, path, [], version, run, finish=True)


def upgrade_steps(
    connection: "duckdb.DuckDBPyConnection", path: Path | str
) -> tuple[int | None, str, list[Migration]]:
    """Version of the open file, the declarations it was compared with, the migrations that it lacks.

    A file without tables has no version and lacks none. Raises WarehouseError when they would not
    bring it to this version. The file is not changed.
    """
    version, compared_with = _read_version(connection, path)
    if version is None:
        return None, "", []
    try:
        steps = _without_second(connection, version, missing_steps(MIGRATIONS, path, version))
    except StoreError as error:
        raise WarehouseError(str(error)) from None
    if steps or compared_with != _declared():
        _rehearse(connection, path, version, steps)
    return version, compared_with, steps


def _without_second(
    connection: "duckdb.DuckDBPyConnection", version: int, steps: list[Migration]
) -> list[Migration]:
    """The steps that a file lacks, where the first one it had is the second one now.

    `0102_site.sql` was the step to version 101 before another one got that number: a file of that
    version with that step's table lacks the first step in place of the second.
    """
    if version != BASELINE + 1 or _OF_SECOND not in columns_of(connection):
        return steps
    first = migrations(MIGRATIONS)[0]
    return [first._replace(version=steps[0].version), *steps[1:]]


def later_version(connection: "duckdb.DuckDBPyConnection", path: Path | str) -> str | None:
    """What to say of an open file of a later version, which can be read only; None of any other.

    Raises StoreError for one from before the baseline.
    """
    import duckdb

    try:
        version, _ = _read_version(connection, path)
    except (duckdb.Error, WarehouseError):
        return None
    if version is None:
        return None
    require_kept(path, version)
    if version <= (known := current_version(MIGRATIONS)):
        return None
    return (
        f"{path} has version {version}, and this version of vlm-loom knows versions up to {known}: "
        "what is in it can be looked at, and may differ from the guides; update vlm-loom before all "
        "else."
    )


@cache
def _declared() -> str:
    return hashlib.sha256((schema_ddl() + views_ddl()).encode()).hexdigest()


def _read_version(
    connection: "duckdb.DuckDBPyConnection", path: Path | str
) -> tuple[int | None, str]:
    """The version of the file, None for one to be made, and the declarations it was compared with."""
    columns = connection.execute(sql_text("version_columns")).fetchall()
    if not columns:
        return None, ""
    if columns == [("version", "VARCHAR")]:
        # Long before the baseline a hash of sql/ stood there.
        return 0, ""
    rows = connection.execute(sql_text("version_read")).fetchall()
    if len(rows) != 1:
        raise WarehouseError(
            f"{path} does not say its version, as main.schema_version has {len(rows)} rows instead of "
            "one: restore a backup (vlm-loom home restore)."
        )
    version, compared_with = rows[0]
    return version, compared_with


def _transaction(
    connection: "duckdb.DuckDBPyConnection",
    path: Path | str,
    scripts: Iterable[str],
    version: int,
    run: RunScript,
    *,
    finish: bool,
) -> None:
    """Run scripts and write down the version they make; the last ones make the views, too."""
    connection.begin()
    for script in scripts:
        run(connection, script)
    if finish:
        run(connection, extras_ddl() + views_ddl())
        _require_form(connection, declared_columns(), path, version)
    for statement in connection.extract_statements(sql_text("version_write")):
        values = {"version": version, "declared": _declared() if finish else ""}
        connection.execute(statement, {name: values[name] for name in statement.named_parameters})
    connection.commit()


def _rehearse(
    connection: "duckdb.DuckDBPyConnection",
    path: Path | str,
    version: int,
    steps: Iterable[Migration],
) -> None:
    """Raise WarehouseError unless the steps give the open file the form that `sql/` declares.

    They are run in memory, on empty tables like those of the file with the indexes that people made.
    """
    import duckdb

    declared = connection.execute(sql_text("declarations"), {"stages": list(STAGES)}).fetchall()
    reached = version
    with duckdb.connect() as like_it:
        try:
            for statement, *_ in declared:
                like_it.execute(statement)
            for step in steps:
                reached = step.version
                like_it.execute(step.text())
            like_it.execute(extras_ddl())
            _require_form(like_it, declared_tables(), path, version)
            like_it.execute(views_ddl())
        except duckdb.Error as error:
            raise WarehouseError(_obstacle(path, error, declared, version, reached)) from error


def _obstacle(
    path: Path | str,
    error: "duckdb.Error",
    declared: Iterable[tuple[str, str | None, str]],
    version: int,
    reached: int,
) -> str:
    """What keeps a file from being brought to this version, and what to do about it."""
    import duckdb

    indexes = " and ".join(
        f"the index {index} on {table}"
        for _, index, table in declared
        if index and f'"{table.partition(".")[2]}"' in str(error)
    )
    if indexes and isinstance(error, duckdb.DependencyException):
        return (
            f"{path} cannot be brought to this version while it has {indexes}: drop it (DROP INDEX), "
            "start again, and make it anew afterwards if you need it."
        )
    return (
        f"{path} cannot be brought to this version, as the step to version {reached} does not fit it "
        f"({str(error).splitlines()[0]}): if you have made what has that name, rename it and start "
        f"again; otherwise {another_version(version)}"
    )


def _require_form(
    connection: "duckdb.DuckDBPyConnection", wanted: Columns, path: Path | str, version: int
) -> None:
    """Raise WarehouseError unless the tables have these columns.

    What somebody has made beside the tables is theirs.
    """
    actual = columns_of(connection)
    wrong = [
        difference
        for name, columns in wanted.items()
        for difference in _differences(name, columns, actual.get(name))
    ]
    if wrong:
        raise WarehouseError(
            f"{path} is a file of version {version}, but {', '.join(wrong)}: {another_version(version)}"
        )


def _differences(table: str, wanted: list[Column], found: list[Column] | None) -> Iterator[str]:
    """What is wrong with a table, in words."""
    if found is None:
        yield f"the table {table} is missing"
        return
    kinds = {name: f"{kind}{'' if nullable else ' NOT NULL'}" for name, kind, nullable in wanted}
    others = {name: f"{kind}{'' if nullable else ' NOT NULL'}" for name, kind, nullable in found}
    for name in sorted(kinds.keys() - others.keys()):
        yield f"{table} lacks the column {name}"
    for name in sorted(others.keys() - kinds.keys()):
        yield f"{table} has the unexpected column {name}"
    for name in sorted(kinds.keys() & others.keys()):
        if kinds[name] != others[name]:
            yield f"the column {name} of {table} is {others[name]} instead of {kinds[name]}"
