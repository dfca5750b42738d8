"""The first opening of the Dagster instance, by several processes at once and by one that is killed."""

import multiprocessing
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.schedules import SqliteScheduleStorage

from dagster_project.instance import DATABASES, open_instance

pytestmark = pytest.mark.slow

POINTS = ["begun", "made", "0", "1", "2"]
"""Where a process is killed while it makes an instance; numbers are of databases that were moved."""


def _open(home: Path, name: str, barrier: Any) -> None:
    os.environ["LOOM_HOME"] = str(home)
    barrier.wait()
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", [name])
        assert instance.get_runs() == []
        assert instance.run_storage.has_built_index("bulk_action_types")


def _open_and_die(home: Path, point: str) -> None:
    os.environ["LOOM_HOME"] = str(home)

    def die(*_args: object, **_settings: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    if point == "made":
        dg.DagsterInstance.dispose = die  # type: ignore[method-assign]
    elif point == "begun":
        SqliteScheduleStorage.from_local = die  # type: ignore[assignment,method-assign]
    else:
        moves, rename = [], Path.rename

        def counted(self: Path, target: Path) -> Path:
            if self.suffix == ".db" and len(moves) == int(point):
                die()
            moves.append(target)
            return rename(self, target)

        Path.rename = counted  # type: ignore[assignment,method-assign]
    open_instance()


def _all_forked(work: Callable[..., None], arguments: list[tuple[Any, ...]], told: Any) -> None:
    """In a process of its own, which has imported Dagster for all of its children."""
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=work, args=each) for each in arguments]
    for child in children:
        child.start()
    for child in children:
        child.join()
    told.put([child.exitcode for child in children])


def exit_codes(work: Callable[..., None], arguments: list[tuple[Any, ...]]) -> list[int]:
    """Do `work` with each of the arguments, each in a process, at once."""
    spawn = multiprocessing.get_context("spawn")
    told = spawn.SimpleQueue()
    parent = spawn.Process(target=_all_forked, args=(work, arguments, told))
    parent.start()
    parent.join()
    assert parent.exitcode == 0
    return told.get()


def partitions(instance: dg.DagsterInstance) -> list[str]:
    return sorted(instance.get_dynamic_partitions("wit_shard"))


@pytest.fixture
def made(loom_home: Path, new_instance: Path) -> Path:
    """The folder of the home's instance, which is whole."""
    return Path(shutil.copytree(new_instance, loom_home / "dagster"))


def test_processes_that_open_a_new_instance_at_the_same_moment_all_do(
    loom_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    names = ["a", "b", "c", "d"]
    barrier = multiprocessing.get_context("spawn").Barrier(len(names))

    assert exit_codes(_open, [(loom_home, name, barrier) for name in names]) == [0] * len(names)

    assert "half-made" not in capfd.readouterr().err
    with open_instance() as instance:
        assert partitions(instance) == names


def test_a_process_that_is_killed_while_it_makes_the_instance_leaves_nothing_half_made(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    codes = exit_codes(_open_and_die, [(tmp_path / point, point) for point in POINTS])

    assert codes == [-signal.SIGKILL] * len(POINTS)
    for point in POINTS[::2]:
        monkeypatch.setenv("LOOM_HOME", str(tmp_path / point))
        with open_instance() as instance:
            instance.add_dynamic_partitions("wit_shard", ["one"])
            assert partitions(instance) == ["one"], point
            assert instance.run_storage.has_built_index("bulk_action_types"), point
            assert instance.all_instigator_state() == [], point
        assert "half-made" not in capfd.readouterr().err, point
        assert not list((tmp_path / point / "dagster").glob("half-made-*"))


SPOILED = {
    "two processes made it": "INSERT INTO alembic_version VALUES ('5771160a95ad')",
    "killed before its version was written": "DELETE FROM alembic_version",
    "killed between two tables": "DROP TABLE {table}",
}
RUNS = [Path("history/runs.db")] * len(SPOILED)


@pytest.mark.parametrize(
    ("how", "database"), [*zip(SPOILED, DATABASES, strict=True), *zip(SPOILED, RUNS, strict=True)]
)
def test_a_half_made_instance_of_an_earlier_version_is_put_aside_and_made_anew(
    how: str, database: Path, made: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["earlier"])
    path = made / database
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(SPOILED[how].format(table=min(DATABASES[database])))

    with open_instance() as instance:
        assert partitions(instance) == []

    (aside,) = made.glob("half-made-*")
    assert capfd.readouterr().err == (
        f"The Dagster instance {made} was left half-made: it is made anew, what was "
        f"there is in {aside}. A backup of the workspace has its history (vlm-loom home restore).\n"
    )
    assert all((aside / each).exists() for each in DATABASES)


def test_a_file_that_is_no_database_is_put_aside_too(loom_home: Path) -> None:
    (loom_home / "dagster" / "schedules").mkdir(parents=True)
    (loom_home / "dagster" / "schedules" / "schedules.db").write_bytes(b"torn" * 1024)

    with open_instance() as instance:
        assert instance.all_instigator_state() == []


def test_a_whole_instance_is_opened_as_it_is(made: Path) -> None:
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["one"])
    with open_instance() as instance:
        assert partitions(instance) == ["one"]


@pytest.mark.parametrize("database", DATABASES)
def test_an_instance_with_an_emptied_database_is_called_that(
    database: Path, made: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (made / database).write_bytes(b"")

    with open_instance() as instance:
        assert partitions(instance) == []

    (aside,) = made.glob("emptied-*")
    said = capfd.readouterr().err
    assert said.startswith(
        f"The Dagster instance {made} has an emptied database, {database}: it is "
    )
    assert str(aside) in said and "half-made" not in said
    assert not (aside / database).stat().st_size
