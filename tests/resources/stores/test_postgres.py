"""A store on Postgres: sessions that break, servers that are away, versions, and processes at once."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import click
import psycopg
import pytest
from sqlalchemy import Connection, create_engine, event, text

from resources.command_line import Command, CommandGroup, run
from resources.files.system_errors import ResourceExhausted
from resources.llm.budget_store import BUDGET_STORE
from resources.llm.ledger import Ledger
from resources.llm.ledger.file import LEDGER
from resources.migrations import StoreError, StoreUnavailable
from resources.review import clock
from resources.review.locks import LOCK_SECONDS
from resources.review.store import ReviewStore
from resources.stores import outages
from resources.stores import postgres as sessions
from resources.stores.locks import open_locks
from resources.stores.postgres import PostgresStore
from tests.doubles.scripts import start
from tests.doubles.servers import PostgresServer
from tests.resources.llm.entries import call
from tests.resources.review.review_queue import queue, work

pytestmark = pytest.mark.slow


@pytest.fixture
def address(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    made = postgres.database()
    monkeypatch.setenv("LOOM_STORES", made)
    return made


@pytest.fixture
def admin(address: str) -> Iterator["psycopg.Connection"]:
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


def count(store: PostgresStore, table: str) -> int:
    with store.read() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_a_session_that_broke_is_opened_again_at_the_next_call(address, postgres, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add([call(0)])
    for n in range(1, 4):
        postgres.cut(address)
        assert len(ledger) == n
        postgres.cut(address)
        ledger.add([call(n)])
    assert len(ledger) == 4


NEW_RUN = text("INSERT INTO budget_runs SELECT gen_random_uuid(), 'c', 1")


def test_a_transaction_that_is_lost_raises_keeps_nothing_and_may_be_done_again(address, postgres):
    store = PostgresStore(BUDGET_STORE, address)
    with pytest.raises(StoreUnavailable), store.transaction() as connection:
        connection.execute(NEW_RUN)
        postgres.cut(address)
        connection.execute(NEW_RUN)
    with store.transaction() as connection:
        connection.execute(NEW_RUN)
    assert count(store, "budget_runs") == 1


def test_a_full_disk_of_the_server_is_no_outage_that_a_stage_goes_on_after():
    full = psycopg.errors.DiskFull("could not extend file")
    error = sessions.store_error(full, "db", "ledger")
    assert isinstance(error, ResourceExhausted)
    assert str(error).endswith("make room on the disk of its server, and start again.")


def test_a_process_that_stands_still_amid_a_transaction_does_not_stop_others(address, monkeypatch):
    monkeypatch.setattr(sessions, "STILL_SECONDS", 1)
    store = PostgresStore(BUDGET_STORE, address)

    def write() -> None:
        with store.transaction() as session:
            session.execute(NEW_RUN)
        store.close()

    with (
        ThreadPoolExecutor(1) as another,
        pytest.raises(StoreUnavailable),
        store.transaction() as still,
    ):
        still.execute(NEW_RUN)
        another.submit(write).result()
        still.execute(NEW_RUN)
    assert count(store, "budget_runs") == 1


@pytest.mark.parametrize("reached", [True, False])
def test_what_became_of_a_commit_whose_answer_was_lost_is_asked(address, postgres, reached):
    store = PostgresStore(LEDGER, address)
    insert = text("INSERT INTO renewals (model, created_at) VALUES ('m', 't')")

    @event.listens_for(store._engine, "commit", once=True)
    def cut_at_the_commit(connection: Connection) -> None:
        if reached:
            connection.connection.driver_connection.commit()
        postgres.cut(address)

    if reached:
        with store.transaction() as inside:
            inside.execute(insert)
    else:
        with pytest.raises(StoreUnavailable), store.transaction() as inside:
            inside.execute(insert)
    assert count(store, "renewals") == int(reached)
    assert not store._was_committed("999999999"), "of a server that crashed and knows it no more"


def test_locks_are_held_again_after_their_session_broke(address, postgres, tmp_path):
    mine, others = open_locks(tmp_path / "flights"), open_locks(tmp_path / "flights")
    assert mine.take(1) and mine.take(2) and not others.take(1)
    postgres.cut(address)
    assert others.take(2), "nobody holds it while the session is gone"
    assert mine.take(3)
    assert not others.take(1) and not others.take(3)
    assert not mine.take(2)
    others.close()
    assert mine.take(2)
    # A session that is found broken when a lock is released is not used again.
    postgres.cut(address)
    mine.release(2)
    assert mine.take(4)
    mine.close()


def fault(address: str) -> str:
    with pytest.raises(StoreError) as caught:
        PostgresStore(LEDGER, address)
    return str(caught.value)


def test_what_is_wrong_with_the_address_is_one_sentence_without_the_password(
    address, monkeypatch, tmp_path
):
    for wrong, says in (
        ("postgresql://u:hidden@127.0.0.1:1/x", "its server runs"),
        (address.rpartition("/")[0] + "/none", "LOOM_STORES names a database"),
        (address.replace("postgres@", "nobody:hidden@"), "PGPASSWORD"),
        ("postgresql://u:hidden%zz@h/x", "special characters"),
    ):
        told = fault(wrong)
        assert says in told and "hidden" not in told and "\n" not in told
    monkeypatch.setenv("LOOM_STORES", "mysql://x:hidden@y/z")
    with pytest.raises(StoreError, match="^(?!.*hidden).*LOOM_STORES is not an address"):
        Ledger(tmp_path / "ledger.sqlite")


def test_a_user_who_may_not_make_schemas_is_told_so(address, admin):
    admin.execute("CREATE ROLE reader LOGIN")
    try:
        assert "CREATE schemas" in fault(address.replace("postgres@", "reader@"))
    finally:
        admin.execute("DROP ROLE reader")


def set_read_only(admin: "psycopg.Connection", value: str) -> None:
    """Let new sessions be read-only, as those of a standby are until a failover ends, or not."""
    admin.execute(f"ALTER DATABASE {admin.info.dbname} SET default_transaction_read_only = {value}")


def test_a_failover_is_waited_for_until_the_server_can_be_written(
    address, admin, postgres, tmp_path, monkeypatch, caplog
):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.add([call(0)])
    set_read_only(admin, "on")
    postgres.cut(address)
    monkeypatch.setattr(outages.time, "sleep", lambda _seconds: promote())

    def promote() -> None:
        with psycopg.connect(address, autocommit=True) as promoting:
            promoting.execute("SET default_transaction_read_only = off")
            set_read_only(promoting, "off")

    ledger.add([call(1)])
    assert len(ledger) == 2
    assert "session is read-only" in caplog.text


def test_a_server_that_is_read_only_is_named_and_read_if_the_address_says_so(
    address, admin, monkeypatch
):
    PostgresStore(BUDGET_STORE, address).close()
    set_read_only(admin, "on")
    monkeypatch.setattr(outages, "_waited_for", {})
    with pytest.raises(StoreUnavailable, match="name the server in LOOM_STORES that may be writt"):
        PostgresStore(BUDGET_STORE, address)
    any_server = PostgresStore(BUDGET_STORE, f"{address}?target_session_attrs=any")
    assert count(any_server, "budget_runs") == 0


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_a_statement_that_takes_too_long_ends_a_command_with_one_sentence(address, driver, capsys):
    """Dagster's storage has its own connections, by psycopg2."""
    engine = create_engine(
        address.replace("postgresql", f"postgresql+{driver}"),
        connect_args={"options": "-c statement_timeout=20"},
    )

    @click.command(cls=Command, workspace="unused")
    def slow() -> None:
        """Take long."""
        with engine.connect() as connection:
            connection.execute(text("SELECT pg_sleep(60)"))

    assert run(CommandGroup("some", {"slow": slow}), "some", ["slow"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("The database of LOOM_STORES cannot be used (canceling statement due to")
    assert "raise statement_timeout of the server" in said and said.count("\n") == 1


def test_a_statement_of_a_store_that_takes_too_long_may_succeed_later(address, admin):
    store = PostgresStore(LEDGER, address)
    with pytest.raises(StoreUnavailable, match="raise statement_timeout"), store.read() as reader:
        reader.exec_driver_sql("SET statement_timeout = 20")
        reader.exec_driver_sql("SELECT pg_sleep(60)")


def test_a_later_version_is_refused_and_left_as_it_is(address, admin):
    PostgresStore(LEDGER, address)
    admin.execute("UPDATE ledger.alembic_version SET version_num = '9999'")
    assert "Update vlm-loom" in fault(address)
    version = admin.execute("SELECT version_num FROM ledger.alembic_version").fetchone()
    assert version == ("9999",)


def test_a_schema_of_an_earlier_vlm_loom_is_opened_and_keeps_its_rows(address, admin):
    PostgresStore(LEDGER, address)
    admin.execute("DROP VIEW ledger.paid_calls")
    for table in ("calls", "charges"):
        admin.execute(f"ALTER TABLE ledger.{table} DROP COLUMN image_tokens")
    admin.execute("ALTER TABLE ledger.batches DROP COLUMN address")
    admin.execute("CREATE VIEW ledger.paid_calls AS SELECT key FROM ledger.calls")
    admin.execute("DROP TABLE ledger.alembic_version")
    admin.execute("CREATE TABLE ledger.loom_version AS SELECT 100::bigint AS version")
    admin.execute("INSERT INTO ledger.renewals (model, created_at) VALUES ('m', 't')")
    store = PostgresStore(LEDGER, address)
    assert count(store, "renewals") == 1
    version = admin.execute("SELECT version_num FROM ledger.alembic_version").fetchone()
    assert version == ("104",)
    assert admin.execute("SELECT key, image_tokens FROM ledger.charges").fetchall() == []


FORMS = (
    "SELECT table_name, column_name, data_type, is_nullable, collation_name "
    "FROM information_schema.columns WHERE table_schema = 'review'",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'review'",
    "SELECT event_object_table, trigger_name, event_manipulation FROM information_schema.triggers "
    "WHERE trigger_schema = 'review'",
    "SELECT viewname FROM pg_views WHERE schemaname = 'review'",
)


def form(admin: "psycopg.Connection") -> list[set]:
    return [set(admin.execute(query).fetchall()) for query in FORMS]


@pytest.mark.parametrize("version", [102, 103])
def test_a_review_schema_of_an_earlier_version_gets_the_form_of_a_new_one_and_keeps_its_rows(
    address, admin, version, tmp_path, postgres, monkeypatch
):
    admin.execute("CREATE SCHEMA review; SET search_path = review")
    admin.execute(Path(__file__).with_name("review_102.sql").read_text())
    admin.execute(f"INSERT INTO loom_version VALUES ({version})")
    admin.execute(
        "INSERT INTO events (item_id, content_hash, round, reviewer, verdict, decided_at, source_hash) "
        "VALUES ('i', 'h', 1, 'ann', 'accept', '2026-01-01', 's')"
    )
    admin.execute("INSERT INTO clock VALUES (1, 'a start', 1.5)")

    store = ReviewStore(tmp_path / "review.sqlite")

    assert [each.reviewer for each in store.decisions()] == ["ann"]
    store.update_queue(queue(2))
    assert work(store, "bob") == "item-0"
    for change in ("UPDATE events SET verdict = 'skip'", "DELETE FROM events"):
        with pytest.raises(psycopg.IntegrityError, match="append-only"):
            admin.execute(change)
    monkeypatch.setenv("LOOM_STORES", postgres.database())
    ReviewStore(tmp_path / "review.sqlite")
    with psycopg.connect(os.environ["LOOM_STORES"]) as of_new:
        admin.execute("DROP TABLE loom_version")
        assert form(admin) == form(of_new)


def test_tables_that_are_gone_are_a_sentence(address, admin, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    admin.execute("DROP SCHEMA ledger CASCADE")
    with pytest.raises(StoreError, match="pg_restore"):
        len(ledger)


def test_processes_that_come_to_an_empty_database_at_once_all_find_the_tables(address):
    script = """
        import sys
        from resources.llm.ledger.file import LEDGER
        from resources.stores.postgres import PostgresStore

        with PostgresStore(LEDGER, sys.argv[1]).read() as connection:
            print(connection.exec_driver_sql("SELECT count(*) FROM calls").scalar())
    """
    started = [start(script, address, stdout=subprocess.PIPE) for _ in range(3)]
    assert [each.communicate(timeout=60)[0] for each in started] == ["0\n"] * 3


def test_ids_of_events_are_in_the_order_of_commits(address, tmp_path):
    """Who goes on from the last id that it has read misses none."""
    stores = [ReviewStore(tmp_path / "review.sqlite") for _ in range(4)]
    stores[0].update_queue(queue(60))
    read: list[int] = []
    done = threading.Event()

    def follow() -> None:
        reader = psycopg.connect(address, autocommit=True)
        while True:
            last = done.is_set()
            rows = reader.execute(
                "SELECT event_id FROM review.events WHERE event_id > %s ORDER BY event_id",
                [read[-1] if read else 0],
            ).fetchall()
            read.extend(event_id for (event_id,) in rows)
            if last:
                reader.close()
                return

    def decide(number: int) -> None:
        for _ in range(12):
            work(stores[number], f"p{number}")

    follower = threading.Thread(target=follow)
    follower.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(decide, range(4)))
    done.set()
    follower.join(30)
    assert read == [each.event_id for each in stores[0].decisions()] and len(read) == 48


def test_the_reviews_time_is_the_servers_whatever_a_machines_clock_says(
    address, tmp_path, monkeypatch
):
    one = ReviewStore(tmp_path / "one" / "review.sqlite")
    one.update_queue(queue(1))
    lock = one.lock_item("ann", "annotator")
    ahead = SimpleNamespace(time=lambda: time.time() + 7 * LOCK_SECONDS)
    monkeypatch.setattr(clock, "time", ahead)
    other = ReviewStore(tmp_path / "two" / "review.sqlite")
    assert other.lock_item("bob", "annotator") is None
    assert other.renew_lock(lock.claim)


def test_any_text_that_sqlite_keeps_is_kept(address, tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    texts = ["a\0b", "\0", "\U0010ffff0", "\U0010ffff", "100 % $1 'x' \\", "漢字 ✓"]
    ledger.add([call(number, response=text) for number, text in enumerate(texts)])
    assert [each.response for each in sorted(ledger, key=lambda c: c.prompt_tokens)] == texts
    found = ledger.find([call(n).key for n in range(len(texts))])
    assert [found[call(n).key].text for n in range(len(texts))] == texts
