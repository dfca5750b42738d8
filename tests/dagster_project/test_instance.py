"""The Dagster instance: its first opening, by several and by killed processes; in a shared database."""

import logging
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import dagster as dg
import psycopg
import psycopg2
import pytest
import yaml
from dagster._core.definitions.assets.graph.asset_graph_subset import AssetGraphSubset
from dagster._core.execution.backfill import PartitionBackfill
from dagster._core.storage.event_log.sqlite import sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from dagster._core.test_utils import create_test_daemon_workspace_context
from dagster._core.workspace.load_target import GrpcServerTarget
from dagster._daemon.backfill import execute_backfill_iteration
from dagster_postgres.utils import DagsterPostgresException, retry_pg_connection_fn
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2
from sqlalchemy.exc import IntegrityError, OperationalError

from assets.rewrite import seed_rewrites
from dagster_project.instance import BACKFILLS_WAIT, open_instance
from dagster_project.job_runs import run_job
from dagster_project.run_tags import LOCATION, MAX_RETRIES, OF_TERMINAL
from resources.migrations import StoreError
from resources.stores.address import server_error
from tests.doubles.serving import free_ports

if TYPE_CHECKING:
    from tests.doubles.servers import PostgresServer

pytestmark = pytest.mark.slow

FORK = multiprocessing.get_context("fork")
STORAGES = [sqlite_run_storage, sqlite_event_log, sqlite_schedule_storage]


def _open(home: Path, stores: str, name: str, barrier: Any) -> None:
    os.environ |= {"LOOM_WORKSPACE": str(home), "LOOM_STORES": stores}
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

    assert exit_codes(_open, [(loom_home, "", name, barrier) for name in names]) == [0] * len(names)

    with open_instance() as instance:
        assert partitions(instance) == names


def test_another_process_may_set_the_slots_of_a_pool_at_the_same_moment(
    loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_was_first(*_arguments: object) -> None:
        raise IntegrityError("INSERT INTO concurrency_limits", {}, Exception("UNIQUE"))

    storage = sqlite_event_log.SqliteEventLogStorage
    monkeypatch.setattr(storage, "set_concurrency_slots", other_was_first)
    with open_instance() as instance:
        assert instance.get_runs() == []


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


@pytest.mark.usefixtures("loom_home")
def test_a_run_that_finds_no_code_server_queues_again_for_minutes() -> None:
    with open_instance() as instance:
        queue = instance.get_concurrency_config().run_queue_config
    assert queue is not None
    assert (queue.max_user_code_failure_retries, queue.user_code_failure_retry_delay) == (40, 15)


@pytest.mark.usefixtures("loom_home")
@pytest.mark.parametrize(("setting", "status"), [(None, "REQUESTED"), ("", "FAILING")])
def test_a_backfill_waits_for_a_code_server_that_is_away(monkeypatch, setting, status):
    """Unless a user turns that off."""
    monkeypatch.setenv(BACKFILLS_WAIT, setting or "")
    if setting is None:
        monkeypatch.delenv(BACKFILLS_WAIT)
    (port,) = free_ports(1)
    away = GrpcServerTarget(host="127.0.0.1", port=port, socket=None, location_name=LOCATION)
    assets = AssetGraphSubset(non_partitioned_asset_keys={dg.AssetKey("asset")})
    with open_instance() as instance:
        backfill = PartitionBackfill.from_asset_graph_subset(
            *("b", time.time(), {}, instance, assets, None, None, None)
        )
        instance.add_backfill(backfill)
        with create_test_daemon_workspace_context(away, instance) as context:
            list(execute_backfill_iteration(context, logging.getLogger()))
        stored = instance.get_backfill("b")
    assert stored.status.value == status


def test_an_empty_database_is_named_and_gets_its_tables_again(loom_home, capsys):
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
        instance.wipe()
    with open_instance() as instance:
        assert limit(instance) == 4
        assert instance.event_log_storage.get_concurrency_info("models").slot_count == 4


@dg.job
def works() -> None:
    @dg.op
    def one() -> None: ...

    one()


@pytest.fixture
def stores(postgres: "PostgresServer", loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    address = postgres.database()
    monkeypatch.setenv("LOOM_STORES", address)
    return address


def test_a_job_runs_and_its_events_are_in_the_schema_dagster(stores: str, loom_home: Path) -> None:
    with open_instance() as instance:
        result = run_job(works, instance)
        assert result.success
        assert type(instance.run_storage).__name__ == "PostgresRunStorage"
        run = instance.get_run_by_id(result.run_id)
    # Who runs a command decides whether it is run again.
    assert run is not None and run.tags[MAX_RETRIES] == OF_TERMINAL
    with psycopg.connect(stores) as connection:
        count = "SELECT count(*) FROM dagster.event_logs WHERE run_id = %s"
        assert connection.execute(count, [result.run_id]).fetchone()[0] > 5
        others = (
            "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
        )
        assert connection.execute(others).fetchall() == [("dagster",)]
    assert not list((loom_home / "dagster").rglob("*.db"))


def test_several_may_be_the_first(stores: str, tmp_path: Path) -> None:
    """Each of another machine: with a home of its own."""
    barrier = FORK.Barrier(4)
    opened = [(tmp_path / str(n), stores, str(n), barrier) for n in range(4)]
    assert exit_codes(_open, opened) == [0] * 4
    with open_instance() as instance:
        assert partitions(instance) == ["0", "1", "2", "3"]
        (pool,) = instance.event_log_storage.get_pool_limits()
        assert (pool.name, pool.limit) == ("models", 1)


def test_a_password_may_have_every_character_and_is_in_no_file(postgres, loom_home, monkeypatch):
    """As %XX in the address; Dagster's storage and the stores read the same one."""
    password = "T0K3N p@s/s#w:r%d ?&=+x'"
    with postgres.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS special")
        connection.execute("CREATE ROLE special LOGIN SUPERUSER")
    given = postgres.database().replace("postgres@", f"special:{quote(password, safe='')}@")
    monkeypatch.setenv("LOOM_STORES", given)
    assert conninfo_to_dict(given)["password"] == password
    with open_instance() as instance:
        assert run_job(works, instance).success
        folder = Path(instance.root_directory)
        assert "T0K3N" not in str(instance.get_ref())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"T0K3N" in path.read_bytes()] == []
    settings = yaml.safe_load((folder / "dagster.yaml").read_text())
    assert settings["storage"]["custom"]["config"] == {
        "postgres_url": {"env": "DAGSTER_POSTGRES_URL"}
    }
    assert settings["telemetry"] == {"enabled": False}


@pytest.mark.usefixtures("loom_home")
def test_a_database_that_is_not_there_is_a_sentence_without_the_password(monkeypatch):
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom:T0K3N@127.0.0.1:1/loom")
    with pytest.raises(StoreError, match="cannot be used") as raised:
        open_instance()
    assert "T0K3N" not in str(raised.value) and raised.value.passing


def test_a_session_of_dagster_that_the_server_ends_is_one_sentence(postgres, stores):
    with open_instance() as instance, instance.run_storage.connect() as session:  # type: ignore[attr-defined]
        postgres.cut(stores)
        with pytest.raises(OperationalError) as raised:
            session.execute(text("SELECT 1"))
    sentence = str(server_error(raised.value))
    assert sentence.startswith("The database of LOOM_STORES cannot be used (")
    assert sentence.endswith("): start its server, or correct the address.")


def test_sessions_of_dagster_wait_for_a_server_that_was_reached(stores, monkeypatch):
    """Dagster gives up after 11 s, and its code server would close nothing any more."""
    attempts: list[str] = []

    def refuse(_dialect: Any, *_: Any, **__: Any) -> None:
        attempts.append("refused")
        raise psycopg2.OperationalError("connection refused")

    with open_instance() as instance:
        connect = PGDialect_psycopg2.connect
        refused = [refuse, refuse, connect]
        monkeypatch.setattr(
            PGDialect_psycopg2, "connect", lambda *args, **options: refused.pop(0)(*args, **options)
        )
        assert instance.get_runs() == [] and attempts == ["refused"] * 2


@pytest.mark.parametrize(
    ("query", "attributes"), [("", "read-write"), ("?target_session_attrs=any", "any")]
)
def test_sessions_of_dagster_are_on_no_standby_unless_the_address_allows_it(
    stores, monkeypatch, query, attributes
):
    monkeypatch.setenv("LOOM_STORES", f"{stores}{query}")
    opened: list[str] = []
    connect = PGDialect_psycopg2.connect

    def record(*args: Any, **options: Any) -> Any:
        opened.append(options.get("target_session_attrs", "any server"))
        return connect(*args, **options)

    monkeypatch.setattr(PGDialect_psycopg2, "connect", record)
    with open_instance() as instance:
        assert instance.get_runs() == []
    assert set(opened) == {attributes}


def test_retries_of_dagster_are_not_logged_with_their_statements(stores, caplog):
    def fail() -> None:
        raise OperationalError("SELECT 1", {}, Exception("away"))

    with open_instance(), pytest.raises(DagsterPostgresException):
        retry_pg_connection_fn(fail, retry_limit=1, retry_wait=0.01)

    assert caplog.text == ""
