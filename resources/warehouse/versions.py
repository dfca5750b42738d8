"""Schema versions of the warehouse, and the migrations that upgrade it.

The version is in `main.schema_version`, with the hash of the declarations in `sql/` that the tables
were last compared with. `sql/migrations/` has one file for each migration since the baseline (version
100): `0101_what_it_does.sql` upgrades version 100 to 101. The highest number is the current version.

Each migration runs in one transaction, which also writes its number. The last one also recreates the
views and creates missing tables of extras; without migrations, this happens if the declarations
changed. A merged migration is never changed or renumbered.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from resources import migrations
from resources.migrations import (
    BASELINE,
    Migration,
    newer_version_message,
    older_version_message,
    other_version_message,
)
from resources.warehouse.declarations import (
    FINDINGS,
    SQL_ROOT,
    STAGES,
    Column,
    Columns,
    WarehouseError,
    columns_of,
    declared_columns,
    declared_tables,
    extras_ddl,
    schema_ddl,
    sql_text,
    views_ddl,
)

if TYPE_CHECKING:
    import duckdb

MIGRATIONS = SQL_ROOT / "migrations"
RunScript = Callable[["duckdb.DuckDBPyConnection", str], None]
_OF_SECOND = "evaluate.site"
"""The table that the second migration creates."""


def current_version() -> int:
    """Return the version that `sql/` declares: that of the last migration, or the baseline."""
    return migrations.current_version(MIGRATIONS)


def run_script(connection: "duckdb.DuckDBPyConnection", script: str) -> None:
    """Run the statements of a script in the open transaction."""
    for statement in connection.extract_statements(script):
        connection.execute(statement)


def bring_up_to_date(
    connection: "duckdb.DuckDBPyConnection", path: Path | str, run: RunScript = run_script
) -> None:
    """Upgrade an open file to this version: its tables and views.

    A file without tables gets them as `sql/` declares them. An older file gets the migrations that it
    lacks, each whole or not at all.

    Args:
        connection: The open connection.
        path: The file, for messages.
        run: Runs a script of `sql/`.

    Raises:
        WarehouseError: The file cannot be upgraded.
    """
    # Check before any change: no version could open a file that was upgraded halfway.
    version, compared_with, steps = upgrade_steps(connection, path)
    if version is None:
        _transaction(connection, path, [schema_ddl()], current_version(), run, finish=True)
        return
    for step in steps:
        _transaction(connection, path, [step.text()], step.version, run, finish=step is steps[-1])
    # Declarations may change without a migration: views, or a migration that was forgotten.
    if not steps and compared_with != _declared():
        _transaction(connection, path, [], version, run, finish=True)


def upgrade_steps(
    connection: "duckdb.DuckDBPyConnection", path: Path | str
) -> tuple[int | None, str, list[Migration]]:
    """Find the migrations that an open file lacks, without changing the file.

    Args:
        connection: The open connection.
        path: The file, for messages.

    Returns:
        The version (None for a file without tables), the declarations it was last compared with, and
        the missing migrations.

    Raises:
        WarehouseError: The migrations would not bring the file to this version.
    """
    version, compared_with = _read_version(connection, path)
    if version is None:
        return None, "", []
    of_two_forms = version in (BASELINE, BASELINE + 1)
    steps = _missing_steps(path, version, columns_of(connection) if of_two_forms else {})
    if steps or compared_with != _declared():
        _rehearse(connection, path, version, steps)
    return version, compared_with, steps


def _missing_steps(path: Path | str, version: int, columns: Columns) -> list[Migration]:
    """Return the migrations that a version lacks. Raises WarehouseError for an unknown version.

    Tables of two unreleased states are recognized by their columns: version 100 without findings, and
    version 101 with the site, from when `0102_site.sql` was the first migration.
    """
    _require_version_kept(path, version)
    newest = current_version()
    if version > newest:
        raise WarehouseError(newer_version_message(path, version, newest))
    steps = migrations.migrations(MIGRATIONS)
    if version == BASELINE and FINDINGS not in columns:
        return [*steps]
    since_baseline = [step for step in steps if step.version > BASELINE]
    missing = since_baseline[version - BASELINE :]
    if version == BASELINE + 1 and _OF_SECOND in columns:
        missing[0] = since_baseline[0]._replace(version=missing[0].version)
    return missing


def require_upgradable_stores(path: Path) -> None:
    """Raise WarehouseError if a file that nobody uses is older than the baseline.

    Does not raise if the file is missing or damaged.
    """
    import duckdb

    if path.exists():
        with suppress(duckdb.Error), duckdb.connect(str(path), read_only=True) as connection:
            later_version(connection, path)


def _require_version_kept(path: Path | str, version: int) -> None:
    if version < BASELINE:
        raise WarehouseError(older_version_message(path))


def later_version(connection: "duckdb.DuckDBPyConnection", path: Path | str) -> str | None:
    """Explain that an open file has a later version and can only be read.

    Args:
        connection: The open connection.
        path: The file, for the message.

    Returns:
        One sentence; None for a file of this version or an earlier one.

    Raises:
        WarehouseError: The file is older than the baseline.
    """
    import duckdb

    try:
        version, _ = _read_version(connection, path)
    except (duckdb.Error, WarehouseError):
        return None
    if version is None:
        return None
    _require_version_kept(path, version)
    if version <= (newest := current_version()):
        return None
    return (
        f"{path} has version {version}, and this version of vlm-loom knows versions up to {newest}: "
        "what is in it can be looked at, and may differ from the guides; update vlm-loom before all "
        "else."
    )


@cache
def _declared() -> str:
    return hashlib.sha256((schema_ddl() + views_ddl()).encode()).hexdigest()


def _read_version(
    connection: "duckdb.DuckDBPyConnection", path: Path | str
) -> tuple[int | None, str]:
    """Read the version (None for a file without tables) and the hash of the compared declarations."""
    columns = connection.execute(sql_text("version_columns")).fetchall()
    if not columns:
        return None, ""
    if columns == [("version", "VARCHAR")]:
        # Long before the baseline, the column had a hash of sql/.
        return 0, ""
    rows = connection.execute(sql_text("version_read")).fetchall()
    if len(rows) != 1:
        raise WarehouseError(
            f"{path} does not say its version, as main.schema_version has {len(rows)} rows instead of "
            "one: restore a backup (vlm-loom workspace restore)."
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
    """Run scripts in a transaction and write the resulting version; with `finish`, create the views."""
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
    """Dry-run the migrations; raise WarehouseError if they do not produce the declared tables.

    They run in memory, on empty copies of the file's tables, including indexes that users created.
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
    """Explain why a file cannot be migrated, and what to do."""
    import duckdb

    indexes = " and ".join(
        f"the index {index} on {table}"
        for _, index, table in declared
        if index and f'"{table.partition(".")[2]}"' in str(error)
    )
    if indexes and isinstance(error, duckdb.DependencyException):
        return (
            f"{path} cannot be brought to this version while it has {indexes}: drop it (DROP INDEX), "
            "start again, and create it again afterwards if you need it."
        )
    return (
        f"{path} cannot be brought to this version, as the step to version {reached} does not fit it "
        f"({str(error).splitlines()[0]}): if you have made what has that name, rename it and start "
        f"again; otherwise {other_version_message(version)}"
    )


def _require_form(
    connection: "duckdb.DuckDBPyConnection", wanted: Columns, path: Path | str, version: int
) -> None:
    """Raise WarehouseError if the tables do not have these columns.

    Further tables, which users created, are allowed.
    """
    actual = columns_of(connection)
    wrong = [
        difference
        for name, columns in wanted.items()
        for difference in _differences(name, columns, actual.get(name))
    ]
    if wrong:
        advice = other_version_message(version)
        if version == current_version():
            advice = (
                "if you changed sql/, add the step that makes that of an existing file, sql/migrations/"
                f"{version + 1:04}_<what it does>.sql (resources/warehouse/versions.py). Otherwise "
                f"{advice}"
            )
        raise WarehouseError(
            f"{path} is a file of version {version}, but {', '.join(wrong)}: {advice}"
        )


def _differences(table: str, wanted: list[Column], actual: list[Column] | None) -> Iterator[str]:
    if actual is None:
        yield f"the table {table} is missing"
        return
    kinds = {name: f"{kind}{'' if nullable else ' NOT NULL'}" for name, kind, nullable in wanted}
    others = {name: f"{kind}{'' if nullable else ' NOT NULL'}" for name, kind, nullable in actual}
    for name in sorted(kinds.keys() - others.keys()):
        yield f"{table} lacks the column {name}"
    for name in sorted(others.keys() - kinds.keys()):
        yield f"{table} has the unexpected column {name}"
    for name in sorted(kinds.keys() & others.keys()):
        if kinds[name] != others[name]:
            yield f"the column {name} of {table} is {others[name]} instead of {kinds[name]}"
