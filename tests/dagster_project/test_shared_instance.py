"""Where LOOM_STORES names a database, Dagster's storage and the marks of runs are in it."""

import multiprocessing
import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import dagster as dg
import psycopg
import pytest
import yaml
from dagster import DagsterRunStatus
from psycopg.conninfo import conninfo_to_dict

from assets.common.dagster_internals import MAX_RETRIES_TAG, WILL_RETRY_TAG
from dagster_project import shared_marks, shared_storage
from dagster_project.dead_runs import end_dead_runs
from dagster_project.instance import open_instance, prepare_dagster_home
from dagster_project.job_runs import run_job
from dagster_project.run_tags import MARKED
from dagster_project.shared_marks import DAEMON, Mark, held
from dagster_project.shared_storage import database
from resources.migrations import StoreAway, StoreError

if TYPE_CHECKING:
    from tests.doubles.servers import PostgresServer

ADDRESSES = (
    *("sqlite:///x", "host/db", "postgresql://host", "mysql://h/d"),
    # Passwords with a bare / or @, which libpq would look for as host, port or database.
    *("postgresql://u:s3cr3t/x@h/d", "postgresql://u:s3cr3t@x@h/d", "postgresql://u:12/s3cr3t@h/d"),
)
ID = "11111111-2222-3333-4444-555555555555"


@dg.job
def works() -> None:
    @dg.op
    def one(context: dg.OpExecutionContext) -> None:
        # While it is at work, the run is marked.
        context.add_output_metadata({"held": context.run_id in held([context.run_id])})

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
        (output,) = [event for event in result.all_events if event.is_successful_output]
        assert output.step_output_data.metadata["held"].value is True
        tags = instance.get_run_by_id(result.run_id).tags
    assert tags[MARKED] == "yes" and tags[MAX_RETRIES_TAG] == "0"
    with psycopg.connect(stores) as connection:
        count = "SELECT count(*) FROM dagster.event_logs WHERE run_id = %s"
        assert connection.execute(count, [result.run_id]).fetchone()[0] > 5
        others = (
            "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
        )
        assert connection.execute(others).fetchall() == [("dagster",)]
    assert held([result.run_id]) == set()
    assert not list((loom_home / "dagster").rglob("*.db"))


def test_the_address_is_in_no_file(stores: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = stores.replace("postgres@", "postgres:T0K3N@")
    monkeypatch.setenv("LOOM_STORES", secret)
    with open_instance() as instance:
        assert run_job(works, instance).success
        folder = Path(instance.root_directory)
        assert "T0K3N" not in str(instance.get_ref())
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"T0K3N" in path.read_bytes()] == []
    settings = yaml.safe_load((folder / "dagster.yaml").read_text())
    assert settings["storage"]["custom"]["config"] == {"address": {"env": "LOOM_STORES"}}
    assert settings["telemetry"] == {"enabled": False}


def _open(home: str, stores: str, barrier: Any) -> None:
    os.environ |= {"LOOM_HOME": home, "LOOM_STORES": stores}
    barrier.wait()
    with open_instance() as instance:
        instance.add_dynamic_partitions("wit_shard", [str(os.getpid())])


def test_several_may_be_the_first(stores: str, tmp_path: Path) -> None:
    """Each of another machine: with a home of its own."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(4)
    children = [
        fork.Process(target=_open, args=(str(tmp_path / str(n)), stores, barrier)) for n in range(4)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    with open_instance() as instance:
        assert len(instance.get_dynamic_partitions("wit_shard")) == 4


def test_a_run_whose_mark_is_free_at_two_looks_is_dead_and_launched_again(
    stores: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_marks, "TWO_LOOKS", 0.2)
    with open_instance() as instance:
        at_work, dead, not_yet = (
            instance.create_run_for_job(
                works,
                status=DagsterRunStatus.STARTED,
                tags=tags,
            ).run_id
            for tags in ({MARKED: "yes"}, {MARKED: "yes"}, {})
        )
        mark = Mark(at_work)
        assert end_dead_runs(instance) == [f"works {dead}"]
        assert instance.get_run_by_id(dead).tags[WILL_RETRY_TAG] == "true"
        statuses = [instance.get_run_by_id(each).status for each in (at_work, not_yet)]
        assert statuses == [DagsterRunStatus.STARTED] * 2
        mark.close()
        assert end_dead_runs(instance) == [f"works {at_work}"]


def test_a_mark_outlives_its_session(stores: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_marks, "LOOK_SECONDS", 0.05)
    mark = Mark(ID)
    with psycopg.connect(stores, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted"
        )
        for _ in range(100):
            if held([ID]):
                break
            time.sleep(0.05)
    assert held([ID]) == {ID}
    mark.close()
    assert held([ID]) == set()


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.usefixtures("loom_home")
def test_what_is_no_address_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("LOOM_STORES", address)
    with pytest.raises(StoreError, match="is no address of a Postgres database") as refused:
        prepare_dagster_home()
    assert "s3cr3t" not in str(refused.value)


def test_a_password_may_have_every_character(
    postgres: "PostgresServer", loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As %XX in the address; Dagster's storage, the marks and the stores read the same one."""
    password = "p@s/s#w:r%d ?&=+x'"
    with postgres.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS special")
        connection.execute("CREATE ROLE special LOGIN SUPERUSER")
    given = postgres.database().replace("postgres@", f"special:{quote(password, safe='')}@")
    monkeypatch.setenv("LOOM_STORES", given)
    assert conninfo_to_dict(database())["password"] == password
    with open_instance() as instance:
        result = run_job(works, instance)
        assert result.success
    assert held([result.run_id]) == set()


def test_one_daemon_works_on_a_database(stores: str) -> None:
    first = Mark(DAEMON)
    with pytest.raises(StoreError, match="A daemon works on postgresql://.* already.*LOOM_STORES"):
        Mark(DAEMON)
    first.close()
    Mark(DAEMON).close()


def _forwarded(port: int, stores: str, listener: socket.socket) -> None:
    """Serve one connection after the other to the server of `stores`."""
    target = conninfo_to_dict(stores)
    with suppress(OSError):
        while True:
            here, _ = listener.accept()
            there = socket.create_connection((str(target["host"]), int(str(target["port"]))))
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=_copy, args=(one, other), daemon=True).start()


def _copy(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)


def test_a_run_at_work_waits_for_a_database_that_is_away(
    stores: str, loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its server is reached by a port that is closed for some seconds, longer than Dagster tries."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        threading.Thread(target=_forwarded, args=(port, stores, listener), daemon=True).start()
        own = str(conninfo_to_dict(stores)["port"])
        monkeypatch.setenv("LOOM_STORES", stores.replace(f":{own}/", f":{port}/"))
        instance = open_instance()
        mark = Mark(ID)
        listener.shutdown(socket.SHUT_RDWR)
    began = time.monotonic()
    back: list[socket.socket] = []

    def come_back() -> None:
        time.sleep(8)
        back.append(socket.create_server(("127.0.0.1", port)))
        _forwarded(port, stores, back[0])

    threading.Thread(target=come_back, daemon=True).start()
    instance.add_dynamic_partitions("wit_shard", ["one"])
    assert time.monotonic() - began >= 7
    assert instance.get_dynamic_partitions("wit_shard") == ["one"]
    mark.close()
    back[0].shutdown(socket.SHUT_RDWR)
    # After that the step is told in a sentence, and tried again.
    monkeypatch.setattr(shared_storage, "PATIENCE", 0.0)
    shared_storage.at_work.add(ID)
    back[0].close()
    with pytest.raises(StoreAway, match="The database of LOOM_STORES cannot be used"):
        instance.get_dynamic_partitions("wit_shard")
    shared_storage.at_work.discard(ID)
    instance.dispose()


@pytest.mark.usefixtures("loom_home")
def test_a_database_that_is_not_there_is_a_sentence_without_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom:T0K3N@127.0.0.1:1/loom")
    with pytest.raises(StoreError, match="cannot be used") as raised:
        open_instance()
    assert "T0K3N" not in str(raised.value) and raised.value.passing
