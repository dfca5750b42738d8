"""The first opening of the Dagster instance, by several processes at once and by one that is killed."""

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.instance import DATABASES, databases_kept_open, open_instance
from resources.home import REPO_ROOT

OPEN = """
import sys, time
from pathlib import Path
from dagster_project.instance import open_instance
Path(sys.argv[1]).touch()
while not Path(sys.argv[2]).exists():
    time.sleep(0.001)
with open_instance() as instance:
    instance.add_dynamic_partitions("wit_shard", [sys.argv[3]])
    print(instance.get_runs(), instance.run_storage.has_built_index("bulk_action_types"))
"""
KILLED = """
import os, signal, sys
from pathlib import Path
import dagster as dg
from dagster_project.instance import open_instance

def die(*_args, **_settings):
    os.kill(os.getpid(), signal.SIGKILL)

point, moves = sys.argv[1], []
if point == "made":
    dg.DagsterInstance.dispose = die
elif point == "begun":
    from dagster._core.storage.schedules import SqliteScheduleStorage
    SqliteScheduleStorage.from_local = die
else:
    rename = Path.rename
    def counted(self, target):
        if self.suffix == ".db" and len(moves) == int(point):
            die()
        moves.append(target)
        return rename(self, target)
    Path.rename = counted
open_instance()
"""


def opening(folder: Path, name: str) -> subprocess.Popen[str]:
    """A process that opens the instance as soon as `folder/go` is there."""
    command = [sys.executable, "-c", OPEN, str(folder / f"{name}-ready"), str(folder / "go"), name]
    return subprocess.Popen(
        command, cwd=REPO_ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def partitions(instance: dg.DagsterInstance) -> list[str]:
    return sorted(instance.get_dynamic_partitions("wit_shard"))


@pytest.mark.parametrize("again", range(2))
def test_processes_that_open_a_new_instance_at_the_same_moment_all_do(
    again: int, loom_home: Path, tmp_path: Path
) -> None:
    processes = [opening(tmp_path, name) for name in ("a", "b", "c", "d")]
    while len(list(tmp_path.glob("*-ready"))) < 4:
        assert all(process.poll() is None for process in processes)
    (tmp_path / "go").touch()

    for process in processes:
        printed, complaint = process.communicate()
        assert (process.returncode, printed) == (0, "[] True\n"), complaint
        assert "half-made" not in complaint
    with open_instance() as instance:
        assert partitions(instance) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("point", ["begun", "made", "0", "1", "2"])
def test_a_process_that_is_killed_while_it_makes_the_instance_leaves_nothing_half_made(
    point: str, loom_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED, point], cwd=REPO_ROOT)
    assert killed.returncode == -signal.SIGKILL

    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["one"])
        assert partitions(instance) == ["one"]
        assert instance.run_storage.has_built_index("bulk_action_types")
        assert instance.all_instigator_state() == []
    assert "half-made" not in capfd.readouterr().err
    assert not list((loom_home / "dagster").glob("half-made-*"))


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
    how: str, database: Path, loom_home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["earlier"])
    path = loom_home / "dagster" / database
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(SPOILED[how].format(table=min(DATABASES[database])))

    with open_instance() as instance:
        assert partitions(instance) == []

    (aside,) = (loom_home / "dagster").glob("half-made-*")
    assert capfd.readouterr().err == (
        f"The Dagster instance {loom_home / 'dagster'} was left half-made: it is made anew, what was "
        f"there is in {aside}.\n"
    )
    assert all((aside / each).exists() for each in DATABASES)


def test_a_file_that_is_no_database_is_put_aside_too(loom_home: Path) -> None:
    (loom_home / "dagster" / "schedules").mkdir(parents=True)
    (loom_home / "dagster" / "schedules" / "schedules.db").write_bytes(b"torn" * 1024)

    with open_instance() as instance:
        assert instance.all_instigator_state() == []


def test_a_whole_instance_is_opened_as_it_is(loom_home: Path) -> None:
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", ["one"])
    with open_instance() as instance:
        assert partitions(instance) == ["one"]


def test_what_is_written_stays_in_the_log_while_the_databases_are_kept_open(
    loom_home: Path,
) -> None:
    log = loom_home / "dagster" / "history" / "runs" / "index.db-wal"
    with open_instance() as instance:
        with databases_kept_open():
            instance.add_dynamic_partitions("wit_shard", ["one"])
            assert log.stat().st_size > 0
            assert partitions(instance) == ["one"]
        assert not log.exists()
        assert partitions(instance) == ["one"]
