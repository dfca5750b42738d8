"""What holds for a lake alone: its writers, rules, snapshots, upkeep, and how it is filled."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import psycopg
import pyarrow as pa
import pytest
from psycopg.conninfo import conninfo_to_dict

from resources.notebook import Home
from resources.warehouse import (
    TableWrite,
    Warehouse,
    WarehouseError,
    arrow_schema,
    lake_upkeep,
    writes,
)
from resources.warehouse.configured import warehouse_of_home
from resources.warehouse.declarations import declared_columns, sql_text
from resources.warehouse.lake import Lake, read_at
from resources.warehouse.lake_connection import LakeAddress, LakeError, LakeLost, forget, locked
from resources.warehouse.lake_database import ATTEMPTS, LakeConflict
from resources.warehouse.lake_upkeep import keep_up
from resources.warehouse.staging import run_on_lake
from resources.warehouse.transfer import fill, write_parquet
from tests.doubles.scripts import start
from tests.doubles.servers import PostgresServer
from tests.lakes import made_lake, new_lake
from tests.resources.older_stores import (
    IN_DUCKDB,
    THEN,
    TODAY,
    VERSION_THEN,
    rows_of_today,
    small_sql,
)
from tests.resources.test_warehouse import TABLE, answers, held

pytestmark = pytest.mark.slow


@pytest.fixture
def lake(postgres: PostgresServer, loom_home: Path, tmp_path: Path) -> Lake:
    return made_lake(postgres, tmp_path)


def release(release_id: str) -> pa.Table:
    row = {"release_id": release_id, "name": "mmdu", "kind": "benchmark", "origin": "built"}
    numbers = dict.fromkeys(("n_items", "n_turns", "n_images"), 1)
    how = {"review_policy": "none", "review_share": 0.0, "provider": "p", "created_at": "2026"}
    return pa.Table.from_pylist(
        [{**row, **numbers, **how}], schema=arrow_schema("release.releases")
    )


WRITER = """
    import sys
    from resources.warehouse.lake import Lake
    from resources.warehouse.lake_connection import LakeAddress
    from tests.resources.test_warehouse import TABLE, answers

    lake, writer = Lake(LakeAddress(*sys.argv[1:3])), int(sys.argv[3])
    for number in range(4):
        set_id = str(writer % 4)
        lake.replace(TABLE, answers(set_id, 20, f"{writer} {number}"), {"set_id": set_id})
"""


@pytest.mark.nightly
def test_eight_writers_and_upkeep_at_once_all_succeed_and_readers_see_whole_writes(lake):
    """Two of them write each of four partitions, and all of them meet at their commits."""
    lake.replace(TABLE, answers("kept", 5, "0"), {"set_id": "kept"})
    writers = [start(WRITER, *lake.address, number) for number in range(8)]
    seen = []
    while any(writer.poll() is None for writer in writers):
        seen += held(lake).items()
        keep_up(lake, 0, lambda _: None)
    assert [writer.wait() for writer in writers] == [0] * 8
    assert {(n, len(texts)) for key, (n, texts) in seen if key != "kept"} == {(20, 1)}
    rows = {key: n for key, (n, _) in held(lake).items()}
    assert rows == {**dict.fromkeys("0123", 20), "kept": 5}


def test_two_that_add_the_same_key_do_not_both_succeed(lake):
    """Neither sees the other's row when it begins."""
    lake.check()
    both = threading.Barrier(2)

    def add(set_id: str) -> bool:
        rows = answers("same", 5).set_column(0, "set_id", [[set_id] * 5])
        both.wait(60)
        try:
            Lake(lake.address).replace(TABLE, rows, {"set_id": set_id})
        except WarehouseError as error:
            assert "uplicate key" in str(error)
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(add, "ab")) == [False, True]
    assert [n for n, _ in held(lake).values()] == [5]


def test_who_waits_for_a_writer_says_so_and_goes_on(lake, monkeypatch):
    monkeypatch.setattr("resources.warehouse.lake_connection.LOCK_SAID_EVERY", "100ms")
    monkeypatch.setattr("resources.warehouse.lake_connection.SAID_AFTER", 0.2)
    lake.check()
    said: list[str] = []
    with ExitStack() as holder:
        holder.enter_context(locked(lake.address, [TABLE], said.append))

        def say(line: str) -> None:
            said.append(line)
            holder.close()

        Lake(lake.address, say).replace(TABLE, answers("a", 1))
    assert said and all(f"{TABLE} in the lake" in line and "is written by" in line for line in said)
    assert lake.count(TABLE) == 1


def test_a_conflict_is_repeated_counted_and_said(lake, monkeypatch):
    """Somebody without our lock deletes the same rows between a write's beginning and its commit."""
    said: list[str] = []
    lake = Lake(lake.address, said.append)
    lake.replace(TABLE, answers("a", 3, "old"), {"set_id": "a"})
    require_rules, others = writes.require_rules, [1]

    def meanwhile(*args: Any) -> None:
        require_rules(*args)
        if others and others.pop():
            with Lake(lake.address).database.opened(own_instance=True) as other:
                other.execute(f"DELETE FROM {TABLE}")

    monkeypatch.setattr(writes, "require_rules", meanwhile)
    lake.replace(TABLE, answers("a", 2, "new"), {"set_id": "a"})

    assert held(lake) == {"a": (2, ["new"])}
    assert lake.database.n_repeated == 1 and len(said) == 1 and "tried again (1 of" in said[0]


def test_a_conflict_that_never_ends_is_one_error(lake, monkeypatch):
    lake.check()
    monkeypatch.setattr("resources.warehouse.lake_database.LONGEST_PAUSE", 0.01)

    conflict = duckdb.TransactionException("Transaction conflict - another one was first")
    monkeypatch.setattr(writes, "require_rules", Mock(side_effect=conflict))
    with pytest.raises(LakeConflict, match="changed the same tables .* run again"):
        lake.replace(TABLE, answers("a", 1))
    assert lake.database.n_repeated == ATTEMPTS - 1 and lake.count(TABLE) == 0


def test_a_catalogue_that_was_away_for_a_moment_is_asked_again(lake, postgres):
    lake.replace(TABLE, answers("a", 1))
    postgres.cut(lake.address.catalogue)
    lake.replace(TABLE, answers("a", 2))
    postgres.cut(lake.address.catalogue)
    assert lake.count(TABLE) == 2


def test_a_catalogue_that_is_read_only_until_a_failover_ends_is_asked_again(lake, monkeypatch):
    lake.replace(TABLE, answers("a", 1))
    catalogue = lake.address.catalogue
    name = conninfo_to_dict(catalogue)["dbname"]
    setting = f"ALTER DATABASE {name} SET default_transaction_read_only"
    with psycopg.connect(catalogue, autocommit=True) as admin:
        admin.execute(f"{setting} = on")
        forget()
        monkeypatch.setattr(lake.database, "log", lambda _line: admin.execute(f"{setting} = off"))
        lake.replace(TABLE, answers("a", 2))
    assert lake.count(TABLE) == 2 and lake.database.n_repeated == 1


def test_a_read_whose_catalogue_goes_away_is_repeated(lake, monkeypatch):
    lake.replace(TABLE, answers("a", 2))
    n_begun = []

    def read() -> int:
        n_begun.append(1)
        if len(n_begun) == 1:
            raise LakeLost("The catalogue does not answer.")
        return lake.count(TABLE)

    assert lake.database.reading(read) == 2 and len(n_begun) == 2
    # What a block has read before would be of another moment.
    n_begun.clear()
    with lake.kept_open(), pytest.raises(LakeLost):
        lake.database.reading(read)


def test_no_query_looks_for_variables_of_python_as_an_interrupt_would_be_lost(lake, monkeypatch):
    interrupted = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("inspect.currentframe", interrupted)
    assert lake.read("cluster/known_texts", {"model": "none"}).num_rows == 0
    interrupted.assert_not_called()


def test_texts_with_nul_and_odd_numbers_come_back_as_they_went_in(lake):
    text = "x\0y 'quoted' \\ \n 字"
    lake.replace(TABLE, answers("a", 2, text))
    item = {"ordinal": 1, "revision": 1, "reviewers": [text], "labels": {text: text}}
    row = {**item, "release_id": "r", "item_id": text}
    lake.replace("release.items", pa.Table.from_pylist([row], schema=arrow_schema("release.items")))
    assert held(lake) == {"a": (2, [text])}
    (back,) = lake.select("release.items").to_pylist()
    assert (back["item_id"], back["labels"], back["reviewers"]) == (text, [(text, text)], [text])


def test_a_release_names_its_snapshot_which_upkeep_keeps(lake, monkeypatch):
    # It looks at each table of the lake: two are enough.
    tables = "SELECT * FROM (VALUES ('dialogue', 'answers'), ('release', 'releases'))"
    texts = {"lake_tables": tables}
    monkeypatch.setattr(lake_upkeep, "sql_text", lambda name: texts.get(name) or sql_text(name))
    lake.replace(TABLE, answers("a", 3, "then"))
    for release_id in ("mmdu-1", "mmdu-2"):
        lake.replace("release.releases", release(release_id), {"release_id": release_id})
    for number in range(5):
        lake.replace(TABLE, answers("a", 2, f"{number}"))
        lake.replace(TABLE, answers("b", 2, f"{number}"), {"set_id": "b"})
    # Written once more: the first snapshot is still the one.
    lake.replace("release.releases", release("mmdu-1"), {"release_id": "mmdu-1"})
    lake.replace("release.releases", release("mmdu-2").slice(1), {"release_id": "mmdu-2"})
    snapshots = lake.snapshots_of_releases()
    assert {*snapshots} == {"mmdu-1", "mmdu-2"}
    files = sorted(Path(lake.address.files).rglob("*.parquet"))

    done = keep_up(lake, 0, lambda _: None, read_for=timedelta(0))

    left = lake.sql("SELECT snapshot_id FROM ducklake_snapshots('warehouse')")
    assert left["snapshot_id"].to_pylist()[0] == snapshots["mmdu-1"]
    assert snapshots["mmdu-2"] not in left["snapshot_id"].to_pylist()
    assert (done.n_kept_for_releases, done.n_ended > 10) == (1, True)
    assert len(sorted(Path(lake.address.files).rglob("*.parquet"))) < len(files)
    assert done.n_removed > 0 and done.n_merged > done.n_written > 0
    assert held(lake) == {"a": (2, ["4"]), "b": (2, ["4"])}
    with read_at(lake.address, str(snapshots["mmdu-1"])) as then:
        assert then.execute(f"SELECT answer FROM {TABLE}").fetchall() == [("then",)] * 3
    assert keep_up(lake, 0, lambda _: None).n_ended <= 2
    assert keep_up(lake, 1, lambda _: None).n_kept_for_releases == 0, "none is older than a day"


def test_the_tables_are_read_as_of_a_snapshot_or_a_time_and_nothing_is_written(lake, tmp_path):
    lake.replace(TABLE, answers("a", 1, "first"))
    first = newest_snapshot(lake)
    lake.replace(TABLE, answers("a", 1, "second"))
    text = f"SELECT answer FROM {TABLE}"
    for moment, answer in ((None, "second"), (str(first), "first"), ("2999-01-01", "second")):
        with read_at(lake.address, moment) as connection:
            assert connection.execute(text).fetchall() == [(answer,)]
    for moment in ("999", "1999-01-01", "long ago"):
        with (
            pytest.raises(LakeError, match="cannot be read as of") as caught,
            read_at(lake.address, moment),
        ):
            pass
        # An error that is its own cause has no end for what looks through the causes.
        cause = caught.value.__cause__
        assert cause is not None and cause.__cause__ is not cause
    copy = f"COPY {TABLE} TO '{tmp_path}/x.csv'"
    with read_at(lake.address, None) as connection:
        for wrong in (f"DELETE FROM {TABLE}", copy, "DROP TABLE x"):
            with pytest.raises(duckdb.Error):
                connection.execute(wrong)


def newest_snapshot(lake: Lake) -> int:
    (found,) = lake.sql("SELECT max(snapshot_id) AS id FROM ducklake_snapshots('warehouse')")["id"]
    return int(found.as_py())


def test_an_older_lake_gets_the_form_that_sql_declares_and_keeps_its_rows(postgres, tmp_path):
    with small_sql(tmp_path / "sql"):
        lake, new = (new_lake(postgres, tmp_path / name) for name in ("older", "new"))
        with lake.database.opened() as connection:
            connection.begin()
            for stage in ("ingest", "cluster", "rewrite"):
                connection.execute(f"CREATE SCHEMA {stage}")
            run_on_lake(connection, THEN.format(**IN_DUCKDB))
            connection.execute(VERSION_THEN)
            connection.commit()
        lake.database.require_upgradable()
        lake.check()
        new.check()
        assert lake.columns() == new.columns() == declared_columns()
        for table, rows in rows_of_today(IN_DUCKDB).items():
            assert lake.sql(f"FROM {table} ORDER BY ALL").to_pylist() == rows
        assert lake.sql("FROM main.schema_version")["version"].to_pylist() == [TODAY]
        snapshot = newest_snapshot(lake)
        Lake(lake.address).check()
        assert newest_snapshot(lake) == snapshot, "nothing is written again"


def notes(*note_ids: str) -> pa.Table:
    return pa.table(
        {"note_id": note_ids, "text": ["an owl"] * len(note_ids), "n_words": [2] * len(note_ids)}
    )


@pytest.fixture
def small_lake(postgres: PostgresServer, tmp_path: Path) -> Iterator[Lake]:
    """A lake of the small form: what goes through all tables goes through three."""
    with small_sql(tmp_path / "sql"):
        yield new_lake(postgres, tmp_path / "small")


def test_a_copy_is_a_file_with_the_same_rows(small_lake, tmp_path):
    small_lake.replace("ingest.notes", notes("a", "b"))
    small_lake.replace("cluster.groups", pa.table({"group_id": ["g"] * 2, "note_id": ["a"] * 2}))
    small_lake.copy_to(tmp_path / "copy.duckdb")
    copy = Warehouse(tmp_path / "copy.duckdb")
    assert copy.columns() == small_lake.columns()
    assert copy.select("ingest.notes", order="ALL") == small_lake.select(
        "ingest.notes", order="ALL"
    )
    assert copy.count("cluster.groups") == 2


@pytest.fixture
def tables_of_a_file(small_lake: Lake, tmp_path: Path) -> Path:
    """A folder with the tables of a file, as a home brings them: 20 notes and a group."""
    warehouse = Warehouse(tmp_path / "of-a-home.duckdb")
    warehouse.replace("ingest.notes", notes(*(f"{number:02}" for number in range(20))))
    warehouse.replace("cluster.groups", pa.table({"group_id": ["g"], "note_id": ["00"]}))
    folder = tmp_path / "parquet"
    folder.mkdir()
    write_parquet(warehouse, folder)
    return folder


def test_a_lake_is_filled_once_and_each_row_is_compared(small_lake, tables_of_a_file, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(Lake, "replace_all", lambda *_: None)
        with pytest.raises(LakeError, match="differs from the workspace's in"):
            fill(small_lake, tables_of_a_file)
        patched.setattr(Lake, "replace_all", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            fill(small_lake, tables_of_a_file)
    assert fill(small_lake, tables_of_a_file) == 21, "who is interrupted goes on"
    file = Warehouse(tables_of_a_file.with_name("of-a-home.duckdb"))
    for table in ("ingest.notes", "cluster.groups"):
        assert small_lake.select(table, order="ALL") == file.select(table, order="ALL")
    before = newest_snapshot(small_lake)
    assert fill(small_lake, tables_of_a_file) == 21
    assert newest_snapshot(small_lake) == before, "nothing is written again"
    other = pa.table({"group_id": ["other"], "note_id": ["00"]})
    small_lake.replace_all(
        [TableWrite("cluster.groups", other, {}), TableWrite("ingest.notes", notes(), {})]
    )
    with pytest.raises(LakeError, match=r"cluster.groups .* has rows of its own: name a lake"):
        fill(small_lake, tables_of_a_file)
    assert small_lake.count("ingest.notes") == 0


def test_notebooks_and_pages_read_the_lake(postgres, loom_home, tmp_path, monkeypatch):
    loom_home.mkdir()
    monkeypatch.setenv("LOOM_WAREHOUSE", f"ducklake:postgres:{postgres.database()}")
    home = warehouse_of_home()
    assert isinstance(home, Lake) and home.address.files == f"{loom_home}/lake/"
    assert not home.is_there()
    with pytest.raises(WarehouseError, match="no tables yet"):
        home.snapshot_read("release/all", {})
    home.replace(TABLE, answers("a", 3))
    assert home.is_there()
    assert home.snapshot_read("release/all", {}).num_rows == 0
    assert TABLE in Home().tables() and Home().table(TABLE, "answer").num_rows == 3
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "another"))
    assert Home(loom_home).table(TABLE, "answer").num_rows == 3, "the home that is named"


def test_a_catalogue_that_is_not_there_is_one_sentence_without_its_password(tmp_path):
    nowhere = "dbname=loom host=127.0.0.1 port=1 password=verysecret connect_timeout=2"
    lake = Lake(LakeAddress(nowhere, f"{tmp_path}/lake/"))
    with pytest.raises(LakeLost, match="lake loom on 127.0.0.1 does not answer") as refused:
        lake.count(TABLE)
    assert "verysecret" not in str(refused.value)


def test_other_files_than_the_lakes_are_refused(lake, tmp_path):
    lake.check()
    with pytest.raises(LakeError, match="here they would be in .*set LOOM_FILES"):
        Lake(lake.address._replace(files=f"{tmp_path}/elsewhere/")).check()


@pytest.mark.usefixtures("small_lake")
def test_a_bucket_that_is_not_there_is_said_before_the_lake_keeps_its_address(
    postgres, s3, monkeypatch
):
    """The catalogue keeps the address of the files: a mistyped bucket would be there for good."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    catalogue = postgres.database()
    with pytest.raises(LakeError, match="NoSuchBucket.*check LOOM_FILES"):
        Lake(LakeAddress(catalogue, "s3://mistyped/lake/")).check()
    right = Lake(LakeAddress(catalogue, f"s3://{s3.bucket()}/lake/"))
    assert right.count("ingest.notes") == 0
