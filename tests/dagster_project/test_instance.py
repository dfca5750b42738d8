"""The first opening of the Dagster instance, by several processes at once and by one that is killed."""

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage

from assets.rewrite import seed_rewrites
from dagster_project.instance import open_instance
from resources.migrations import StoreError

pytestmark = pytest.mark.slow
FORK = multiprocessing.get_context("fork")
STORAGES = [sqlite_run_storage, sqlite_event_log, sqlite_schedule_storage]


def _open(home: Path, name: str, barrier: Any) -> None:
    os.environ["LOOM_WORKSPACE"] = str(home)
    barrier.wait()
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", [name])
        assert instance.get_runs() == []
        assert instance.run_storage.has_built_index("bulk_action_types")


def _open_and_die(home: Path, storage: int) -> None:
    os.environ["LOOM_WORKSPACE"] = str(home)

    def die(*_args: object, **_settings: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # The tables are there, and not yet their version.
    STORAGES[storage].stamp_alembic_rev = die  # type: ignore[attr-defined]
    open_instance()


def exit_codes(work: Callable[..., None], arguments: list[tuple[Any, ...]]) -> list[int | None]:
    """Do `work` with each of the arguments, each in a process, at once."""
    children = [FORK.Process(target=work, args=each) for each in arguments]
    for child in children:
        child.start()
    for child in children:
        child.join()
    return [child.exitcode for child in children]


def partitions(instance: dg.DagsterInstance) -> list[str]:
    return sorted(instance.get_dynamic_partitions("wit_shard"))


def test_processes_that_open_a_new_instance_at_the_same_moment_all_do(loom_home: Path) -> None:
    names = ["a", "b", "c", "d"]
    barrier = FORK.Barrier(len(names))

    assert exit_codes(_open, [(loom_home, name, barrier) for name in names]) == [0] * len(names)

    with open_instance() as instance:
        assert partitions(instance) == names


def test_an_instance_whose_maker_was_killed_is_completed_by_the_next_that_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storages = range(len(STORAGES))
    killed = exit_codes(_open_and_die, [(tmp_path / str(each), each) for each in storages])

    assert killed == [-signal.SIGKILL] * len(STORAGES)
    for each in storages:
        monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / str(each)))
        with open_instance() as instance:
            instance.add_dynamic_partitions("wit_shard", ["one"])
            assert partitions(instance) == ["one"]
            assert instance.all_instigator_state() == instance.get_runs() == []


def test_a_file_that_is_no_database_is_named_with_what_to_do(loom_home: Path) -> None:
    (loom_home / "dagster" / "schedules").mkdir(parents=True)
    (loom_home / "dagster" / "schedules" / "schedules.db").write_bytes(b"torn" * 1024)

    with pytest.raises(StoreError) as raised:
        open_instance()
    assert str(raised.value) == (
        f"The Dagster instance {loom_home}/dagster cannot be opened (file is not a database): move its "
        "folders history and schedules away, or restore a backup (vlm-loom workspace restore)."
    )


def test_an_empty_database_is_named_and_gets_its_tables_again(
    loom_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_instance():
        pass
    assert capsys.readouterr().err == ""
    runs = loom_home / "dagster" / "history" / "runs.db"
    os.truncate(runs, 0)

    with open_instance() as instance:
        assert instance.get_runs() == []

    assert capsys.readouterr().err == (
        f"{runs} is empty, and gets its tables again. If it had content, stop and restore a backup "
        "(vlm-loom workspace restore).\n"
    )


@pytest.mark.usefixtures("loom_home")
def test_one_step_calls_models_at_a_time_unless_the_instance_has_another_limit() -> None:
    def limit(instance: dg.DagsterInstance) -> int:
        (pool,) = instance.event_log_storage.get_pool_limits()
        assert pool.name == seed_rewrites.op.pool
        return pool.limit

    with open_instance() as instance:
        assert limit(instance) == 1
        instance.event_log_storage.set_concurrency_slots("models", 4)
    with open_instance() as instance:
        assert limit(instance) == 4
