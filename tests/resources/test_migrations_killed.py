"""Whoever is killed while an older file is brought to this version, nothing is lost."""

import itertools
import multiprocessing
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from resources import warehouse
from resources.duckdb_file import attached
from resources.migrations import migrations
from resources.sqlite_file import SqliteFile
from resources.warehouse import Warehouse
from resources.warehouse_schema import MIGRATIONS
from tests.homes.version_1 import unpack
from tests.resources.older_warehouses import (
    expected,
    hand_made_version_1,
    hand_made_version_6,
    today,
)
from tests.resources.store_files import (
    SQLITE,
    Rows,
    assert_same_rows,
    form_of_sqlite,
    rows_of_duckdb,
    rows_of_sqlite,
)


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first release's home. Not to be changed: tests open copies."""
    return unpack(tmp_path_factory.mktemp("version_1"))


class DyingConnection:
    """A DuckDB connection whose process is killed before its n-th statement."""

    def __init__(self, connection: Any, n: int, done: list[str]):
        self._connection, self._n, self._done = connection, n, done

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._connection, name)
        if name not in ("execute", "begin", "commit", "close"):
            return method

        def counted(*arguments: Any, **options: Any) -> Any:
            self._done.append(name)
            if len(self._done) == self._n:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(*arguments, **options)

        return counted


def _open_and_die(path: Path, n: int) -> None:
    done = list[str]()

    @contextmanager
    def dying(*arguments: Any, **options: Any) -> Iterator[Any]:
        with attached(*arguments, **options) as connection:
            yield DyingConnection(connection, n, done)

    warehouse.attached = dying  # type: ignore[assignment]
    Warehouse(path).check()


def _forked(work: Callable[..., None], *arguments: Any) -> int:
    """Exit code of a child that does `work`; negative for the signal that killed it."""
    child = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    child.start()
    child.join()
    assert child.exitcode is not None
    return child.exitcode


def _kill_everywhere(source: Path, folder: Path, every: int, told: Any) -> None:
    """In a process of its own, which opens no DuckDB file: its children are forked."""
    for n in itertools.count(1, every):
        path = folder / f"{n}.duckdb"
        shutil.copyfile(source, path)
        exit_code = _forked(_open_and_die, path, n)
        told.put((n, exit_code))
        if exit_code == 0:
            return


def killed_and_finished(source: Path, wanted: Rows, every: int) -> int:
    """Kill whoever brings a copy of `source` to this version before its first statement, and before
    every `every`th from there on; open each copy again, which has the `wanted` rows then.

    How many were killed.
    """
    spawn = multiprocessing.get_context("spawn")
    told = spawn.SimpleQueue()
    killer = spawn.Process(target=_kill_everywhere, args=(source, source.parent, every, told))
    killer.start()

    n_killed, exit_code = 0, None
    while exit_code != 0:
        n, exit_code = told.get()
        assert exit_code in (0, -signal.SIGKILL)
        n_killed += exit_code != 0
        path = source.parent / f"{n}.duckdb"
        Warehouse(path).check()
        assert_same_rows(rows_of_duckdb(path), wanted)
        path.unlink()
    killer.join()
    return n_killed


def n_statements(since: int) -> int:
    """Number of statements of the migrations from version `since` on."""
    steps = [step for step in migrations(MIGRATIONS) if step.version > since]
    return sum(step.text().count(";\n") for step in steps)


def test_a_warehouse_killed_amid_the_last_steps_loses_nothing_and_the_next_finishes(
    tmp_path: Path,
) -> None:
    wanted = today(hand_made_version_6(tmp_path / "old.duckdb"))

    n_killed = killed_and_finished(tmp_path / "old.duckdb", wanted, every=8)

    assert n_killed > n_statements(since=6) / 8 > 5, "it was killed all along"


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_warehouse_of_version_1_killed_amid_any_step_loses_nothing_and_the_next_finishes(
    tmp_path: Path,
) -> None:
    wanted = expected(hand_made_version_1(tmp_path / "old.duckdb"))

    n_killed = killed_and_finished(tmp_path / "old.duckdb", wanted, every=6)

    assert n_killed > n_statements(since=0) / 6 > 40, "it was killed all along"


def _open_sqlite_and_die(kind: type[SqliteFile], path: Path, n: int) -> None:
    seen = 0
    open_ = kind._open

    def watched(self: SqliteFile) -> sqlite3.Connection:
        connection = open_(self)

        def count(_: str) -> None:
            nonlocal seen
            seen += 1
            if seen == n:
                os.kill(os.getpid(), signal.SIGKILL)

        connection.set_trace_callback(count)
        return connection

    kind._open = watched  # type: ignore[method-assign]
    kind(path)


@pytest.mark.parametrize(("name", "kind"), SQLITE.items(), ids=list(SQLITE))
def test_a_sqlite_file_killed_before_any_statement_loses_nothing_and_the_next_finishes(
    name: str, kind: type[SqliteFile], version_1: Path, tmp_path: Path
) -> None:
    shutil.copyfile(version_1 / name, tmp_path / "whole.sqlite")
    kind(tmp_path / "whole.sqlite")
    wanted = rows_of_sqlite(tmp_path / "whole.sqlite")
    form = form_of_sqlite(tmp_path / "whole.sqlite")

    for n in range(1, 200):
        path = tmp_path / f"{n}.sqlite"
        shutil.copyfile(version_1 / name, path)
        exit_code = _forked(_open_sqlite_and_die, kind, path, n)
        kind(path)
        assert rows_of_sqlite(path) == wanted, f"killed before statement {n}"
        assert form_of_sqlite(path) == form
        if exit_code == 0:
            break
        assert exit_code == -signal.SIGKILL
    else:
        pytest.fail("the file was never opened")
    assert n > 4, "it was killed amid the work"


def _arrive(path: Path, barrier: Any) -> None:
    barrier.wait()
    Warehouse(path).check()


def test_processes_that_find_an_older_warehouse_at_once(version_1: Path, tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    shutil.copyfile(version_1 / "warehouse.duckdb", path)
    wanted = expected(rows_of_duckdb(path))
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(3)
    processes = [spawn.Process(target=_arrive, args=(path, barrier)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)

    assert [process.exitcode for process in processes] == [0] * 3
    assert_same_rows(rows_of_duckdb(path), wanted)
