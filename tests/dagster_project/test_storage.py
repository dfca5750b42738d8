"""What Dagster stores in databases that stay open is what it stores itself, and is seen at once."""

import threading
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.sqlite_storage import DagsterSqliteStorage

from dagster_project import storage as module
from dagster_project.instance import open_instance
from dagster_project.storage import EventLog, Storage

HOW_OFTEN = 3


@dg.asset(check_specs=[dg.AssetCheckSpec("is_right", asset="made")])
def made() -> Iterator[dg.MaterializeResult | dg.AssetCheckResult]:
    """An asset with a check, all of whose kinds of events are stored."""
    yield dg.MaterializeResult(metadata={"n_rows": 2})
    yield dg.AssetCheckResult(passed=True, check_name="is_right")


@pytest.fixture
def instance(loom_home: Path) -> Iterator[dg.DagsterInstance]:
    with open_instance() as opened:
        yield opened


def run(instance: dg.DagsterInstance) -> str:
    job = dg.Definitions(assets=[made]).resolve_implicit_global_asset_job_def()
    return job.execute_in_process(instance=instance).run_id


def kinds(log: SqliteEventLogStorage, run_id: str) -> list[str]:
    records = log.get_records_for_run(run_id).records
    return [
        record.event_log_entry.dagster_event_type.value
        for record in records
        if record.event_log_entry.dagster_event_type
    ]


def opened_databases() -> list[Path]:
    files = [path.resolve() for path in Path("/proc/self/fd").iterdir()]
    return [path for path in files if path.suffix == ".db" and "history" in path.parts]


def test_dagsters_own_storage_reads_what_ours_has_stored(instance: dg.DagsterInstance) -> None:
    run_id = run(instance)
    assert isinstance(instance.event_log_storage, EventLog)
    folder = instance.root_directory

    own = DagsterSqliteStorage.from_local(folder)
    stored = kinds(own.event_log_storage, run_id)

    assert stored == kinds(instance.event_log_storage, run_id)
    assert {"ASSET_MATERIALIZATION", "ASSET_CHECK_EVALUATION", "PIPELINE_SUCCESS"} <= set(stored)
    # The planned events were stored together, in both databases.
    assert stored.count("ASSET_MATERIALIZATION_PLANNED") == 1
    assert own.run_storage.get_runs()[0].status == dg.DagsterRunStatus.SUCCESS
    key = dg.AssetKey("made")
    (record,) = own.event_log_storage.get_asset_records([key])
    assert record.asset_entry.last_run_id == run_id
    own.dispose()


def test_our_storage_reads_what_dagsters_own_has_stored(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text("telemetry: {enabled: false}")
    with dg.DagsterInstance.from_config(str(tmp_path)) as own:
        run_id = run(own)
        stored = kinds(own.event_log_storage, run_id)

    ours = Storage.from_local(str(tmp_path))

    assert kinds(ours.event_log_storage, run_id) == stored
    ours.dispose()


def test_events_that_come_together_are_stored_all_or_none(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = run(instance)
    log = instance.event_log_storage
    entries = [
        record.event_log_entry
        for record in log.get_records_for_run(run_id).records
        if "CHECK" not in record.event_log_entry.dagster_event_type.value
    ]
    before = kinds(log, run_id)
    store = SqliteEventLogStorage.store_event

    def fails_at_the_last(self: SqliteEventLogStorage, event: dg.EventLogEntry) -> None:
        if event is entries[-1]:
            raise OSError("No space left on device")
        store(self, event)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(SqliteEventLogStorage, "store_event", fails_at_the_last)
        log.store_event_batch(entries)
    assert kinds(log, run_id) == before

    log.store_event_batch(entries)
    assert kinds(log, run_id) == [*before, *(each.dagster_event_type.value for each in entries)]


def test_who_watches_a_run_from_another_process_is_told_of_each_event(
    instance: dg.DagsterInstance,
) -> None:
    """The page of a run watches its file, and what is committed goes into the log beside it."""
    run_id = run(instance)
    log = instance.event_log_storage
    entry = log.get_records_for_run(run_id).records[-1].event_log_entry
    other = DagsterSqliteStorage.from_local(instance.root_directory).event_log_storage
    other.register_instance(instance)
    cursor = other.get_records_for_run(run_id).cursor
    seen = []
    told = threading.Event()
    other.watch(run_id, cursor, lambda event, _: (seen.append(event), told.set()))

    for n_seen in range(1, HOW_OFTEN + 1):
        told.clear()
        log.store_event(entry._replace(user_message=f"event {n_seen}"))
        assert told.wait(60)
        assert seen[-1].user_message == f"event {n_seen}"

    other.end_watch(run_id, next(iter(other._watchers[run_id])))
    other.dispose()


def test_more_runs_than_stay_open_are_read_and_written(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ENGINES", 2)
    runs = [run(instance) for _ in range(HOW_OFTEN + 1)]

    assert all("PIPELINE_SUCCESS" in kinds(instance.event_log_storage, run_id) for run_id in runs)
    assert sum(path.parent.name == "runs" for path in opened_databases()) <= 2


def test_an_instance_that_is_closed_leaves_no_database_open(loom_home: Path) -> None:
    with open_instance() as instance:
        run(instance)
    assert not opened_databases()
