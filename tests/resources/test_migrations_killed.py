"""Whoever is killed while an older file is brought to this version, nothing is lost."""

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from resources.stores.sqlite import SqliteStore
from resources.warehouse import Warehouse, file_database
from resources.warehouse.duckdb_file import attached
from tests.resources.older_stores import (
    IN_DUCKDB,
    IN_SQLITE,
    STEPS,
    TODAY,
    rows_of_today,
    small_kind,
    small_sql,
    sqlite_of_the_baseline,
    warehouse_of_the_baseline,
)
from tests.resources.store_files import (
    assert_same_rows,
    form_of_duckdb,
    form_of_sqlite,
    rows_of_duckdb,
    rows_of_sqlite,
)
from tests.shared import PROCESSES

pytestmark = pytest.mark.slow


@contextmanager
def watched_statements(before: Callable[..., object]) -> Iterator[None]:
    """Warehouses that are opened in the block tell `before` what they are about to run."""

    @contextmanager
    def watched(*arguments: Any, **options: Any) -> Iterator[Any]:
        with attached(*arguments, **options) as connection:

            def reported(method: Callable[..., Any], *given: Any, **options: Any) -> Any:
                before(*given[:1])
                return method(*given, **options)

            double = Mock(wraps=connection)
            for name in ("execute", "begin", "commit", "close"):
                getattr(double, name).side_effect = partial(reported, getattr(connection, name))
            yield double

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_database, "attached", watched)
        yield


def states_on_disk(
    path: Path, folder: Path, work: Callable[[Callable[..., object]], object]
) -> tuple[list[Path], int]:
    """What a kill would leave before each statement of `work`, which brings the file to this version,
    as copies of it and of its logs, and the number of statements. Equal states are listed once."""
    states, n_statements, seen = list[Path](), 0, dict[str, int]()

    def copy(*_: object) -> None:
        nonlocal n_statements, seen
        n_statements += 1
        files = [*path.parent.glob(f"{path.name}*")]
        now = {each.name: each.stat().st_mtime_ns for each in files}
        if now == seen:
            return
        seen = dict.fromkeys(now, 0)
        states.append(folder / f"{n_statements}" / path.name)
        states[-1].parent.mkdir(parents=True)
        for each in files:
            shutil.copyfile(each, states[-1].with_name(each.name))
            os.utime(each, ns=(0, 0))  # Whoever writes it makes it younger.

    work(copy)
    return states, n_statements


def test_a_warehouse_killed_amid_any_step_loses_nothing_and_the_next_finishes(tmp_path):
    """As a kill before each statement would leave the file."""
    with small_sql(tmp_path / "sql"):
        path = warehouse_of_the_baseline(tmp_path / "old.duckdb")

        def work(before: Callable[..., object]) -> None:
            with watched_statements(before):
                Warehouse(path).check()

        states, n_statements = states_on_disk(path, tmp_path / "states", work)
        assert len(states) >= len(STEPS) and n_statements >= 2 * len(STEPS), "seen all along"
        Warehouse(tmp_path / "new.duckdb").check()
        form = form_of_duckdb(tmp_path / "new.duckdb")
        for path in states[:: max(1, len(states) // 4)]:
            Warehouse(path).check()
            assert_same_rows(rows_of_duckdb(path), rows_of_today(IN_DUCKDB))
            assert form_of_duckdb(path) == form
            version = Warehouse(path).sql("SELECT version FROM main.schema_version")
            assert version.to_pydict() == {"version": [TODAY]}


def test_a_sqlite_file_killed_before_any_statement_loses_nothing_and_the_next_finishes(tmp_path):
    kind = small_kind(tmp_path / "kind")
    SqliteStore(kind, tmp_path / "new.sqlite")
    form = form_of_sqlite(tmp_path / "new.sqlite")
    path = sqlite_of_the_baseline(tmp_path / "older.sqlite")

    def work(before: Callable[..., object]) -> None:
        connect = SqliteStore.connect

        def watched(self: SqliteStore) -> sqlite3.Connection:
            connection = connect(self)
            connection.set_trace_callback(before)
            return connection

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SqliteStore, "connect", watched)
            SqliteStore(kind, path)

    states, n_statements = states_on_disk(path, tmp_path / "states", work)
    assert len(states) > 2 and n_statements > 4 * len(STEPS), "seen all along"
    for state in [*states, path]:
        SqliteStore(kind, state)
        assert rows_of_sqlite(state) == rows_of_today(IN_SQLITE)
        assert form_of_sqlite(state) == form


def _arrive(path: Path, barrier: Any, kind_folder: Path | None) -> None:
    if kind_folder is not None:
        kind = small_kind(kind_folder / f"{os.getpid()}")
        barrier.wait()
        SqliteStore(kind, path)
        return
    with small_sql(path.with_name("sql")):
        barrier.wait()
        Warehouse(path).check()


@pytest.mark.parametrize("store", ["warehouse", "sqlite"])
def test_processes_that_find_an_older_store_at_once(tmp_path, store):
    with small_sql(tmp_path / "sql"):
        path = warehouse_of_the_baseline(tmp_path / "warehouse.duckdb")
    if store == "sqlite":
        path = sqlite_of_the_baseline(tmp_path / "older.sqlite")
    arguments = (path, PROCESSES.Barrier(3), tmp_path if store == "sqlite" else None)
    processes = [PROCESSES.Process(target=_arrive, args=arguments) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)

    assert [process.exitcode for process in processes] == [0] * 3
    if store == "sqlite":
        assert rows_of_sqlite(path) == rows_of_today(IN_SQLITE)
    else:
        assert_same_rows(rows_of_duckdb(path), rows_of_today(IN_DUCKDB))
