"""Where LOOM_STORES names a database, Dagster's storage is in it, by dagster-postgres as it comes."""

import multiprocessing
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import dagster as dg
import psycopg
import pytest
import yaml
from dagster_postgres.utils import DagsterPostgresException, retry_pg_connection_fn
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from dagster_project.instance import open_instance
from dagster_project.job_runs import run_job
from dagster_project.run_tags import MAX_RETRIES
from resources.migrations import StoreError
from resources.stores.address import server_error

if TYPE_CHECKING:
    from tests.doubles.servers import PostgresServer

pytestmark = pytest.mark.slow


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
    assert run is not None and run.tags[MAX_RETRIES] == "0"
    with psycopg.connect(stores) as connection:
        count = "SELECT count(*) FROM dagster.event_logs WHERE run_id = %s"
        assert connection.execute(count, [result.run_id]).fetchone()[0] > 5
        others = (
            "SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname !~ '^(pg_|information)'"
        )
        assert connection.execute(others).fetchall() == [("dagster",)]
    assert not list((loom_home / "dagster").rglob("*.db"))


def _open(home: str, stores: str, barrier: Any) -> None:
    os.environ |= {"LOOM_WORKSPACE": home, "LOOM_STORES": stores}
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
        (pool,) = instance.event_log_storage.get_pool_limits()
        assert (pool.name, pool.limit) == ("models", 1)


def test_a_password_may_have_every_character_and_is_in_no_file(
    postgres: "PostgresServer", loom_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    assert settings["storage"]["postgres"] == {"postgres_url": {"env": "DAGSTER_POSTGRES_URL"}}
    assert settings["telemetry"] == {"enabled": False}


@pytest.mark.usefixtures("loom_home")
def test_a_database_that_is_not_there_is_a_sentence_without_the_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LOOM_STORES", "postgresql://loom:T0K3N@127.0.0.1:1/loom")
    with pytest.raises(StoreError, match="cannot be used") as raised:
        open_instance()
    assert "T0K3N" not in str(raised.value) and raised.value.passing


def test_a_session_of_dagster_that_the_server_ends_is_one_sentence(
    postgres: "PostgresServer", stores: str
) -> None:
    with open_instance() as instance, instance.run_storage.connect() as session:  # type: ignore[attr-defined]
        with postgres.connect() as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                (stores.rpartition("/")[2],),
            )
        with pytest.raises(OperationalError) as raised:
            session.execute(text("SELECT 1"))

    sentence = str(server_error(raised.value))
    assert sentence.startswith("The database of LOOM_STORES cannot be used (")
    assert sentence.endswith("): start its server, or correct the address.")


def test_retries_of_dagster_are_not_logged_with_their_statements(
    stores: str, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OperationalError("SELECT 1", {}, Exception("away"))

    with open_instance(), pytest.raises(DagsterPostgresException):
        retry_pg_connection_fn(fail, retry_limit=1, retry_wait=0.01)

    assert caplog.text == ""
