"""Older files become current ones: nothing is lost, whoever is killed when; later ones are refused."""

import multiprocessing
import os
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from resources.images.index import ImageIndex, IndexFile
from resources.llm.ledger.file import LedgerFile
from resources.llm.ledger.ledger import Ledger
from resources.migrations import StoreError, current_version, migrations
from resources.review.file import ReviewFile
from resources.review.store import ReviewStore
from resources.sqlite_file import SqliteFile
from resources.warehouse import SQL_ROOT, STAGES, Warehouse, WarehouseError
from resources.warehouse_schema import MIGRATIONS, sql_text
from tests.homes.version_1 import unpack

SQLITE: dict[str, type[SqliteFile]] = {
    "ledger.sqlite": LedgerFile,
    "review.sqlite": ReviewFile,
    "image_index.sqlite": IndexFile,
}
FOLDERS = [MIGRATIONS, *(kind.SCHEMA[0].with_name("migrations") for kind in SQLITE.values())]
Rows = dict[str, list[Any]]


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first release's home. Not to be changed: tests open copies."""
    return unpack(tmp_path_factory.mktemp("version_1"))


@pytest.fixture
def home(version_1: Path, tmp_path: Path) -> Path:
    shutil.copytree(version_1, tmp_path / "home")
    return tmp_path / "home"


def rows_of_duckdb(path: Path) -> Rows:
    """Every row of every table of the stages, read without the project's code."""
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute(
            "SELECT schema_name || '.' || table_name FROM duckdb_tables() "
            "WHERE list_contains(?, schema_name)",
            [list(STAGES)],
        ).fetchall()
        return {
            name: [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
            for (name,) in names
            for found in [connection.execute(f"SELECT * FROM {name} ORDER BY ALL")]
            for columns in [[column[0] for column in found.description]]
        }


def rows_of_sqlite(path: Path) -> Rows:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        return {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2")]
            for (name,) in names
        }


# --- The files of migrations ---------------------------------------------------------------------


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_migrations_are_numbered_without_gaps_and_named_for_what_they_do(folder: Path) -> None:
    steps = migrations(folder)
    numbers = [step.version for step in steps]
    # What the first release had was version 1 or 2: its steps begin there, or at the next one.
    assert numbers == list(range(numbers[0], numbers[0] + len(steps))) if steps else True
    assert all(number in (1, 2) for number in numbers[:1])
    for step in steps:
        assert re.fullmatch(r"\d{4}_[a-z0-9_]+\.sql", step.path.name)
        assert step.text().startswith("-- "), "it says what it is for"


# --- The form of what comes out ------------------------------------------------------------------


def form_of_duckdb(path: Path) -> dict[str, list[Any]]:
    """Columns in order, constraints and views, as DuckDB has them."""
    queries = {
        "columns": "SELECT schema_name, table_name, column_index, column_name, data_type, is_nullable, "
        "column_default FROM duckdb_columns() WHERE list_contains($s, schema_name) ORDER BY ALL",
        "constraints": "SELECT schema_name, table_name, constraint_type, constraint_text, "
        "constraint_column_names FROM duckdb_constraints() WHERE list_contains($s, schema_name) "
        "ORDER BY ALL",
        "indexes": "SELECT schema_name, table_name, index_name FROM duckdb_indexes() ORDER BY ALL",
        "views": "SELECT schema_name, view_name, sql FROM duckdb_views() "
        "WHERE list_contains($s, schema_name) ORDER BY ALL",
    }
    with duckdb.connect(str(path), read_only=True) as connection:
        return {
            name: connection.execute(
                query, {"s": list(STAGES)} if "$s" in query else None
            ).fetchall()
            for name, query in queries.items()
        }


def form_of_sqlite(path: Path) -> dict[tuple[str, str], str]:
    """What declares each table, index, trigger and view, without comments and spacing."""
    with closing(sqlite3.connect(path)) as connection:
        declared = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return {
        (kind, name): re.sub(r"\s+", "", re.sub("--[^\n]*", "", sql or "")).replace('"', "")
        for kind, name, sql in declared
    }


def test_a_migrated_warehouse_has_the_form_that_sql_declares(home: Path, tmp_path: Path) -> None:
    Warehouse(home / "warehouse.duckdb").check()
    Warehouse(tmp_path / "new.duckdb").check()

    assert form_of_duckdb(home / "warehouse.duckdb") == form_of_duckdb(tmp_path / "new.duckdb")


@pytest.mark.parametrize(("name", "kind"), SQLITE.items(), ids=list(SQLITE))
def test_a_migrated_sqlite_file_has_the_form_that_its_schema_declares(
    name: str, kind: type[SqliteFile], home: Path, tmp_path: Path
) -> None:
    kind(home / name)
    kind(tmp_path / "new.sqlite")

    assert form_of_sqlite(home / name) == form_of_sqlite(tmp_path / "new.sqlite")
    with closing(sqlite3.connect(home / name)) as connection:
        number = connection.execute("PRAGMA user_version").fetchone()[0]
    assert number == current_version(kind.SCHEMA[0].with_name("migrations"))


# --- What was in it ------------------------------------------------------------------------------

WORDS = {"founded": "seed", "overtaken": "absorbed", "sparse": "noise"}
MEANS = {"turn_mean": "micro", "dialogue_mean": "macro"}


def expected(before: Rows) -> Rows:
    """The rows of version 1 under the names and in the words of today."""
    after = {name: [dict(row) for row in rows] for name, rows in before.items()}
    after["rewrite.rewrites"] = after.pop("rewrite.prompts")
    after["cluster.duplicates"] = after.pop("ingest.duplicates")
    lost = after["dialogue.failed"]
    after["rewrite.failed"] = [
        {**row, "stage": "rewrites"} for row in lost if row["stage"] == "prompts"
    ]
    after["dialogue.failed"] = [row for row in lost if row["stage"] != "prompts"]
    queue, agreement = after["review.queue"], after["review.agreement"]
    after["evaluate.score_queue"] = [row for row in queue if row["kind"] == "score"]
    after["review.queue"] = [row for row in queue if row["kind"] != "score"]
    after["evaluate.judge_agreement"] = [row for row in agreement if "judge:" in row["raters"]]
    after["review.agreement"] = [row for row in agreement if "judge:" not in row["raters"]]
    for row in after["evaluate.scores"]:
        row["aggregation"] = MEANS[row["aggregation"]]
    for row in after["cluster.clusters"]:
        for column in ("group_how", "cluster_how"):
            row[column] = WORDS.get(row[column], row[column])
    for row in after["cluster.communities"]:
        row["created_in"] = row.pop("founded_in")
    for row in after["ledger.calls"]:
        if row["stage"] == "rewrite.prompts":
            row["stage"] = "rewrite.rewrites"
    return after


def in_order(rows: list[Any]) -> list[str]:
    return sorted(repr(sorted(row.items())) for row in rows)


def assert_same_rows(found: Rows, wanted: Rows) -> None:
    assert set(found) == set(wanted)
    for name, rows in wanted.items():
        assert in_order(found[name]) == in_order(rows), name


def test_every_row_of_version_1_is_there_under_its_new_name(home: Path) -> None:
    before = rows_of_duckdb(home / "warehouse.duckdb")
    assert len(before["release.releases"]) == 4 and len(before["evaluate.scores"]) == 42
    assert len(before["ingest.duplicates"]) == 1 and len(before["rewrite.prompts"]) == 15

    Warehouse(home / "warehouse.duckdb").check()

    after = rows_of_duckdb(home / "warehouse.duckdb")
    assert_same_rows(after, expected(before))
    assert len(after["evaluate.score_queue"]) == 6 and len(after["review.queue"]) == 18
    assert len(after["evaluate.judge_agreement"]) == 28 and len(after["review.agreement"]) == 52


def test_the_leaderboard_gives_the_same_numbers(home: Path) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        before = connection.execute(
            "SELECT * EXCLUDE (metric), replace(replace(metric, 'turn_mean', 'micro'), "
            "'dialogue_mean', 'macro') AS metric FROM evaluate.leaderboard ORDER BY ALL"
        ).fetchall()

    after = Warehouse(home / "warehouse.duckdb").sql(
        "SELECT * EXCLUDE (metric), metric FROM evaluate.leaderboard ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in after.to_pylist()] == before and len(before) == 42


def hand_made_version_1(path: Path) -> Rows:
    """A small file with a row for whatever a migration changes; its rows."""
    ways = [("founded", "founded"), ("founded", "overtaken"), ("assigned", "sparse")]
    ways += [("founded", "assigned"), ("founded", "no neighbour")]
    ways += [(how, None) for how in ("overtaken", "sparse", "no neighbour")]
    with duckdb.connect(str(path)) as old:
        old.execute(migrations(MIGRATIONS)[0].text())
        old.execute("CREATE TABLE main.schema_version AS SELECT 'a hash' AS version")
        for number, (group_how, cluster_how) in enumerate(ways):
            group = "g" if cluster_how else None
            cluster = "c" if cluster_how in ("founded", "assigned") else None
            old.execute(
                "INSERT INTO cluster.clusters (entry_id, category_text_id, caption_text_id, "
                "group_id, group_how, cluster_id, cluster_how) VALUES (?, 't', 't', ?, ?, ?, ?)",
                [f"{number}", group, group_how, cluster, cluster_how],
            )
        for stage in ("summaries", "questions", "answers", "dialogues", "prompts"):
            old.execute(
                "INSERT INTO dialogue.failed VALUES ('00', ?, 's', 'e', 'refused', 'no', NULL)",
                [stage],
            )
        for kind in ("dialogue", "rewrite", "score"):
            old.execute(
                "INSERT INTO review.queue VALUES (?, ?, 's', '00', '{}', 'h', NULL, ['i'])",
                [f"item-{kind}", kind],
            )
        for raters in ("all", "alice|bob", "people|judge:j"):
            old.execute(
                "INSERT INTO review.agreement VALUES "
                "('score', 'd', ?, 'raw', 1, NULL, NULL, NULL, 'one item')",
                [raters],
            )
        for aggregation in MEANS:
            old.execute(
                "INSERT INTO evaluate.scores VALUES "
                "('b', 'r', 'm', 'j', 'p', 'd', ?, 1, 0, 2, 1, 1, 1, 0, 0)",
                [aggregation],
            )
        old.execute("INSERT INTO ingest.duplicates VALUES ('i', 'i', 2, NULL)")
        old.execute(
            "INSERT INTO rewrite.prompts VALUES ('00', 's', 'w', 'd', 1, 'o', 'w', 'k', 'p', 'x')"
        )
        old.execute(
            "INSERT INTO cluster.communities VALUES "
            "('g', 'group', NULL, '0', 't', 't', 1, 'run', 'm', 0.5, 2, 'exact', 'exact')"
        )
        old.execute(
            "INSERT INTO ledger.calls VALUES ('k', 'lost', 'p', 'm', 'v', 'rewrite.prompts', 'r', "
            "'live', 'length', 1, 0, 0, NULL, NULL, '2026-01-01T00:00:00Z')"
        )
    return rows_of_duckdb(path)


def test_every_word_of_version_1_has_its_new_one(tmp_path: Path) -> None:
    """The small home has no entry that was overtaken or sparse, and lost no rewrite."""
    before = hand_made_version_1(tmp_path / "warehouse.duckdb")

    Warehouse(tmp_path / "warehouse.duckdb").check()

    after = rows_of_duckdb(tmp_path / "warehouse.duckdb")
    assert_same_rows(after, expected(before))
    assert [row["stage"] for row in after["rewrite.failed"]] == ["rewrites"]
    assert len(after["dialogue.failed"]) == 4 and len(after["cluster.clusters"]) == 8
    assert [row["kind"] for row in after["evaluate.score_queue"]] == ["score"]
    assert [row["aggregation"] for row in after["evaluate.scores"]] == ["macro", "micro"]


def test_a_file_that_lacks_a_table_of_the_first_release_gets_it_and_keeps_its_rows(
    home: Path,
) -> None:
    """The first release made a file's missing tables whenever it opened it."""
    with duckdb.connect(str(home / "warehouse.duckdb")) as old:
        old.execute("DROP TABLE rewrite.prompts")

    warehouse = Warehouse(home / "warehouse.duckdb")

    assert warehouse.count("rewrite.rewrites") == 0
    assert warehouse.count("release.releases") == 4


@pytest.mark.parametrize(("name", "kind"), SQLITE.items(), ids=list(SQLITE))
def test_every_row_of_a_sqlite_file_is_there(name: str, kind: type[SqliteFile], home: Path) -> None:
    before = rows_of_sqlite(home / name)
    for table in ("calls", "charges", "batch_items"):
        for row in before.get(table, ()):
            if row["stage"] == "rewrite.prompts":
                row["stage"] = "rewrite.rewrites"

    kind(home / name)

    assert rows_of_sqlite(home / name) == before
    assert sum(map(len, before.values())) > 10


def test_what_was_answered_decided_and_fetched_is_known(home: Path) -> None:
    keys = [row["key"] for row in rows_of_sqlite(home / "ledger.sqlite")["calls"]]
    events = rows_of_sqlite(home / "review.sqlite")["events"]
    urls = [row["url"] for row in rows_of_sqlite(home / "image_index.sqlite")["fetched"]]

    assert set(Ledger(home / "ledger.sqlite").find(keys)) == set(keys)
    assert [each.event_id for each in ReviewStore(home / "review.sqlite").decisions()] == [
        event["event_id"] for event in events
    ]
    assert set(ImageIndex(home / "image_index.sqlite").known(urls)) == set(urls)
    assert (len(keys), len(events), len(urls)) == (79, 28, 12)


# --- Killed --------------------------------------------------------------------------------------


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
    opened, done = duckdb.connect, list[str]()

    def connect(*arguments: Any, **options: Any) -> Any:
        connection = opened(*arguments, **options)
        # The declarations are read off a database in memory.
        return DyingConnection(connection, n, done) if arguments else connection

    duckdb.connect = connect
    Warehouse(path).check()


def _forked(work: Callable[..., None], *arguments: Any) -> int:
    """Exit code of a child that does `work`; negative for the signal that killed it."""
    child = multiprocessing.get_context("fork").Process(target=work, args=arguments)
    child.start()
    child.join()
    assert child.exitcode is not None
    return child.exitcode


def _kill_everywhere(source: Path, folder: Path, told: Any) -> None:
    """In a process of its own, which opens no DuckDB file: its children are forked."""
    for n in range(1, 200):
        path = folder / f"{n}.duckdb"
        shutil.copyfile(source, path)
        exit_code = _forked(_open_and_die, path, n)
        told.put((n, exit_code))
        if exit_code == 0:
            return


def test_a_warehouse_killed_before_any_statement_loses_nothing_and_the_next_finishes(
    tmp_path: Path,
) -> None:
    wanted = expected(hand_made_version_1(tmp_path / "old.duckdb"))
    spawn = multiprocessing.get_context("spawn")
    told = spawn.SimpleQueue()
    killer = spawn.Process(target=_kill_everywhere, args=(tmp_path / "old.duckdb", tmp_path, told))
    killer.start()

    n_killed, exit_code = 0, None
    while exit_code != 0:
        n, exit_code = told.get()
        assert exit_code in (0, -signal.SIGKILL)
        n_killed += exit_code != 0
        path = tmp_path / f"{n}.duckdb"
        Warehouse(path).check()
        assert_same_rows(rows_of_duckdb(path), wanted)
        path.unlink()
    killer.join()
    n_statements = sum(step.text().count(";\n") for step in migrations(MIGRATIONS))
    assert n_killed > n_statements > 60, "it was killed before each of them"


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


def test_processes_that_find_an_older_warehouse_at_once(home: Path) -> None:
    path = home / "warehouse.duckdb"
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


# --- What is refused -----------------------------------------------------------------------------


def make_later(home: Path, name: str) -> int:
    """Give the store a version that this code does not know; the last one that it does."""
    if name == "warehouse.duckdb":
        Warehouse(home / name).check()
        with duckdb.connect(str(home / name)) as connection:
            connection.execute("UPDATE main.schema_version SET version = 99")
        return current_version(MIGRATIONS)
    SQLITE[name](home / name)
    with closing(sqlite3.connect(home / name)) as connection:
        connection.execute("PRAGMA user_version = 99")
    return current_version(SQLITE[name].SCHEMA[0].with_name("migrations"))


OPENERS: dict[str, Callable[[Path], object]] = {
    "warehouse.duckdb": lambda path: Warehouse(path).check(),
    "ledger.sqlite": Ledger,
    "review.sqlite": ReviewStore,
    "image_index.sqlite": ImageIndex,
}


@pytest.mark.parametrize("name", OPENERS)
def test_a_store_of_a_later_version_is_refused_in_one_sentence_and_not_touched(
    name: str, home: Path
) -> None:
    known = make_later(home, name)
    before = (home / name).read_bytes()

    with pytest.raises(StoreError) as caught:
        OPENERS[name](home / name)

    assert str(caught.value) == (
        f"{home / name} has version 99 and this version of vlm-loom knows versions up to {known}: "
        "update vlm-loom, or restore a backup of the earlier version (make restore)."
    )
    assert (home / name).read_bytes() == before
    assert isinstance(caught.value, WarehouseError) == (name == "warehouse.duckdb")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (
            "ALTER TABLE evaluate.reports DROP COLUMN n_models",
            "evaluate.reports lacks the column n_models",
        ),
        (
            "ALTER TABLE ingest.entries ADD COLUMN extra VARCHAR",
            "ingest.entries has the unexpected column extra",
        ),
        (
            "ALTER TABLE release.items ALTER ordinal TYPE BIGINT",
            "the column ordinal of release.items is BIGINT NOT NULL instead of INTEGER NOT NULL",
        ),
    ],
)
def test_another_form_is_refused_when_the_file_is_opened_and_nothing_is_to_be_deleted(
    change: str, difference: str, home: Path
) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute(change)
    before = rows_of_duckdb(home / "warehouse.duckdb")

    with pytest.raises(WarehouseError) as caught:
        Warehouse(home / "warehouse.duckdb").check()

    path = home / "warehouse.duckdb"
    assert str(caught.value).startswith(
        f"{path} is a file of the first release, but {difference}: keep the file"
    )
    assert not re.search("delete|remove|move it away", str(caught.value))
    assert rows_of_duckdb(home / "warehouse.duckdb") == before, "no migration was begun"


def test_a_column_that_sql_declares_without_a_migration_is_noticed_when_the_file_is_opened(
    home: Path,
) -> None:
    Warehouse(home / "warehouse.duckdb").check()
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        # As if the code had been another one when the file was last opened.
        connection.execute("UPDATE main.schema_version SET declared = 'other'")
        connection.execute("ALTER TABLE evaluate.reports DROP COLUMN n_models")

    with pytest.raises(WarehouseError, match="evaluate.reports lacks the column n_models"):
        Warehouse(home / "warehouse.duckdb").check()


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("CREATE INDEX mine ON rewrite.prompts (set_id)", "the index mine on rewrite.prompts:"),
        ("CREATE INDEX mine ON cluster.communities (id)", "the index mine on cluster.communities:"),
        ("CREATE TABLE cluster.duplicates (n INTEGER)", "named cluster.duplicates:"),
    ],
)
def test_what_a_person_made_in_the_way_of_a_migration_is_named_and_nothing_is_changed(
    made: str, named: str, home: Path
) -> None:
    path = home / "warehouse.duckdb"
    with duckdb.connect(str(path)) as connection:
        # An index that is in nobody's way is not named.
        connection.execute("CREATE INDEX other ON dialogue.answers (set_id)")
        connection.execute(made.replace("(id)", f"({first_column(connection)})"))
    before = rows_of_duckdb(path)

    with pytest.raises(WarehouseError) as caught:
        Warehouse(path).check()

    assert str(caught.value).startswith(f"{path} cannot be brought to this version while it has ")
    assert named in str(caught.value) and "start again" in str(caught.value)
    assert "other" not in str(caught.value)
    assert rows_of_duckdb(path) == before, "no migration was begun"


def first_column(connection: Any) -> str:
    return str(connection.execute("FROM cluster.communities").description[0][0])


def test_after_the_index_was_dropped_the_upgrade_is_done(home: Path) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("CREATE INDEX mine ON rewrite.prompts (set_id)")
        connection.execute("DROP INDEX rewrite.mine")

    assert Warehouse(home / "warehouse.duckdb").count("rewrite.rewrites") == 15


@pytest.mark.parametrize("change", ["DELETE FROM", "INSERT INTO main.schema_version FROM"])
def test_a_warehouse_that_does_not_say_its_version_is_one_sentence(change: str, home: Path) -> None:
    path = home / "warehouse.duckdb"
    Warehouse(path).check()
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"{change} main.schema_version")

    with pytest.raises(WarehouseError, match=r"main\.schema_version has [02] rows instead of one"):
        Warehouse(path).check()


def test_views_that_changed_are_made_anew_without_a_migration(home: Path) -> None:
    warehouse = Warehouse(home / "warehouse.duckdb")
    warehouse.check()
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("UPDATE main.schema_version SET declared = 'other'")
        connection.execute("CREATE OR REPLACE VIEW evaluate.leaderboard AS SELECT 1 AS old")

    assert Warehouse(home / "warehouse.duckdb").count("evaluate.leaderboard") == 42


def test_what_a_person_has_made_beside_the_tables_stays(home: Path) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        connection.execute("CREATE VIEW evaluate.mine AS SELECT 7 AS n")
        connection.execute("CREATE TABLE review.notes AS SELECT 'mine' AS note")

    warehouse = Warehouse(home / "warehouse.duckdb")

    assert warehouse.sql("SELECT n, note FROM evaluate.mine, review.notes").to_pylist() == [
        {"n": 7, "note": "mine"}
    ]


def test_opening_a_current_warehouse_asks_for_its_version_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Warehouse(home / "warehouse.duckdb").check()
    asked = []
    opened = duckdb.connect

    class Watched(DyingConnection):
        def execute(self, *arguments: Any) -> Any:
            asked.append(arguments[0])
            return self._connection.execute(*arguments)

    monkeypatch.setattr(duckdb, "connect", lambda *a, **o: Watched(opened(*a, **o), 0, []))
    warehouse = Warehouse(home / "warehouse.duckdb")
    warehouse.check()
    warehouse.check()

    settings = "SET enable_progress_bar = false"
    assert asked == [settings, sql_text("version_columns"), sql_text("version_read"), settings]
    assert SQL_ROOT.is_dir()
