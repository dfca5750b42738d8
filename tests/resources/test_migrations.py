"""Older files become current ones and nothing is lost; later ones are refused."""

import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

from resources.duckdb_file import attached
from resources.images.index import ImageIndex
from resources.llm.ledger.ledger import Ledger
from resources.migrations import StoreError, current_version, migrations
from resources.review.store import ReviewStore
from resources.sqlite_file import SqliteFile
from resources.warehouse import SQL_ROOT, Warehouse, WarehouseError
from resources.warehouse_schema import MIGRATIONS, sql_text
from tests.homes.version_1 import unpack
from tests.resources.older_warehouses import (
    expected,
    hand_made_version_1,
    hand_made_version_6,
    raised_to,
    today,
)
from tests.resources.store_files import (
    SQLITE,
    assert_same_rows,
    form_of_duckdb,
    form_of_sqlite,
    rows_of_duckdb,
    rows_of_sqlite,
)

FOLDERS = [MIGRATIONS, *(kind.SCHEMA[0].with_name("migrations") for kind in SQLITE.values())]


@pytest.fixture(scope="module")
def version_1(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first release's home. Not to be changed: tests open copies."""
    return unpack(tmp_path_factory.mktemp("version_1"))


@pytest.fixture
def home(version_1: Path, tmp_path: Path) -> Path:
    shutil.copytree(version_1, tmp_path / "home")
    return tmp_path / "home"


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


def test_every_row_of_version_1_is_there_under_its_new_name(home: Path) -> None:
    before = rows_of_duckdb(home / "warehouse.duckdb")
    assert len(before["release.releases"]) == 4 and len(before["evaluate.scores"]) == 42
    assert len(before["ingest.duplicates"]) == 1 and len(before["rewrite.prompts"]) == 15

    Warehouse(home / "warehouse.duckdb").check()

    after = rows_of_duckdb(home / "warehouse.duckdb")
    assert_same_rows(after, expected(before))
    assert len(after["evaluate.score_queue"]) == 6 and len(after["review.queue"]) == 18
    assert len(after["evaluate.judge_agreement"]) == 28 and len(after["review.agreement"]) == 52


def test_scores_of_version_1_have_the_version_of_the_judges_prompt(home: Path) -> None:
    warehouse = Warehouse(home / "warehouse.duckdb")

    versions = warehouse.sql(
        "SELECT DISTINCT judge_version AS version FROM evaluate.scores"
    ).column("version")
    judged = warehouse.sql("SELECT DISTINCT prompt_version AS version FROM evaluate.judgments")

    assert versions.to_pylist() == judged.column("version").to_pylist()
    assert [version.partition("@")[0] for version in versions.to_pylist()] == ["mmdu/judge"]


def test_the_leaderboard_gives_the_same_numbers(home: Path) -> None:
    with duckdb.connect(str(home / "warehouse.duckdb")) as connection:
        before = connection.execute(
            "SELECT * EXCLUDE (metric), replace(replace(metric, 'turn_mean', 'micro'), "
            "'dialogue_mean', 'macro') AS metric FROM evaluate.leaderboard ORDER BY ALL"
        ).fetchall()

    after = Warehouse(home / "warehouse.duckdb").sql(
        "SELECT * EXCLUDE (metric, judge_version, n_truncated, n_reasoning_only, n_empty, rank, "
        "ranks, judged_only, coverage, related), metric FROM evaluate.leaderboard ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in after.to_pylist()] == before and len(before) == 42


def test_every_word_of_version_1_has_its_new_one(tmp_path: Path) -> None:
    """The small home has no entry that was overtaken or sparse, and lost no rewrite."""
    before = hand_made_version_1(tmp_path / "warehouse.duckdb")

    Warehouse(tmp_path / "warehouse.duckdb").check()

    after = rows_of_duckdb(tmp_path / "warehouse.duckdb")
    assert_same_rows(after, expected(before))
    assert [row["stage"] for row in after["rewrite.failed"]] == ["rewrites"]
    assert len(after["dialogue.failed"]) == 4 and len(after["cluster.clusters"]) == 8
    assert [row["kind"] for row in after["evaluate.score_queue"]] == ["score"]
    assert {row["aggregation"] for row in after["evaluate.scores"]} == {"macro", "micro"}


# --- Version 6 divided generation into buckets -----------------------------------------------------


def test_every_row_of_version_6_is_there_without_its_bucket(tmp_path: Path) -> None:
    before = hand_made_version_6(tmp_path / "warehouse.duckdb")
    divided = {name for name, rows in before.items() if "bucket" in (rows or [{}])[0]}
    assert divided == {
        "cluster.image_sets",
        *(f"dialogue.{each}" for each in ("summaries", "questions", "answers", "dialogues")),
        *("dialogue.failed", "rewrite.rewrites", "rewrite.failed"),
        *("review.queue", "evaluate.score_queue"),
    }

    Warehouse(tmp_path / "warehouse.duckdb").check()

    after = rows_of_duckdb(tmp_path / "warehouse.duckdb")
    assert_same_rows(after, today(before))
    assert all(len(after[name]) == len(before[name]) > 1 for name in divided)
    assert not any("bucket" in row for rows in after.values() for row in rows)


def test_scores_of_version_6_get_the_prompt_that_their_judgments_were_made_with(
    tmp_path: Path,
) -> None:
    hand_made_version_6(tmp_path / "warehouse.duckdb")

    found = Warehouse(tmp_path / "warehouse.duckdb").sql(
        "SELECT model, judge, aggregation, judge_version AS version, value "
        "FROM evaluate.scores WHERE form = 'judged' ORDER BY ALL"
    )

    assert [tuple(row.values()) for row in found.to_pylist()] == [
        # After a repair a version has the repair's, too.
        ("careful", "first", "macro", "judge@1", 61.0),
        ("careful", "first", "micro", "judge@1", 60.0),
        ("careful", "second", "micro", "judge@2", 70.0),
        ("careless", "first", "micro", "judge@3", 30.0),
        # Nobody knows what gave a score without judgments.
        ("gone", "first", "micro", "unknown", 10.0),
    ]


def test_paths_of_pages_are_those_inside_the_home_wherever_it_was(tmp_path: Path) -> None:
    path = tmp_path / "warehouse.duckdb"
    raised_to(8, path)
    with duckdb.connect(str(path)) as old:
        old.execute(
            "INSERT INTO evaluate.reports VALUES "
            "('a-1', '/srv/reports/old home/reports/a-1.html', 'x', 1), "
            "('a-2', '/data/reports/a-2.html', 'y', 2)"
        )
        old.execute(
            "INSERT INTO cluster.pictures VALUES ('/data/reports/cluster/pictures.html', 'z', 3, 4)"
        )

    warehouse = Warehouse(path)

    reports = warehouse.sql("SELECT path FROM evaluate.reports ORDER BY release_id")
    assert reports["path"].to_pylist() == ["reports/a-1.html", "reports/a-2.html"]
    (page,) = warehouse.sql("FROM cluster.pictures").to_pylist()
    assert page == {
        "path": "reports/cluster/pictures.html",
        "sha256": "z",
        "n_points": 3,
        "n_thumbnails": 4,
    }


def test_a_warehouse_of_version_6_has_the_form_that_sql_declares(tmp_path: Path) -> None:
    hand_made_version_6(tmp_path / "old.duckdb")
    Warehouse(tmp_path / "old.duckdb").check()
    Warehouse(tmp_path / "new.duckdb").check()

    assert form_of_duckdb(tmp_path / "old.duckdb") == form_of_duckdb(tmp_path / "new.duckdb")


def test_a_home_that_version_6_had_brought_up_to_date_loses_nothing_either(home: Path) -> None:
    wanted = expected(rows_of_duckdb(home / "warehouse.duckdb"))
    raised_to(6, home / "warehouse.duckdb")

    Warehouse(home / "warehouse.duckdb").check()

    assert_same_rows(rows_of_duckdb(home / "warehouse.duckdb"), wanted)


# --- Other files -----------------------------------------------------------------------------------


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
    for table in ("items", "standings"):
        for row in before.get(table, ()):
            del row["bucket"]

    if "calls" in before:
        for row in (*before["calls"], *before["charges"]):
            assert row["provider"] == "openai"  # Nobody knows at which address.
            row |= {"endpoint": None, "outcome": "answered", "reasoning": None}
            row |= {"answered_as": None, "claimed_tokens": None}
        for row in before["charges"]:
            assert row["finish_reason"] == "content_filter"
            row |= {"outcome": "refused", "detail": "", "response": "", "request": None}
        before |= {"earlier_endpoints": [], "renewals": []}
    if "fetched" in before:
        for row in before["fetched"]:
            row |= {"fetched_from": None, "file_sha1": None}
        before |= {"verified": []}

    kind(home / name)

    assert rows_of_sqlite(home / name) == before
    assert sum(map(len, before.values())) > 10


def test_the_queue_of_an_older_home_is_the_same_queue_without_buckets(home: Path) -> None:
    store = ReviewStore(home / "review.sqlite")
    before, standing = store.items(), store.page(limit=100)
    queued = [{name: each[name] for name in each if name != "bucket"} for each in before]

    # Nothing is new, so nobody is asked again.
    assert store.update_queue(queued) == (0, 0, 0)
    assert store.items() == queued and len(queued) == 24
    assert store.page(limit=100) == standing


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

    class Watched:
        def __init__(self, connection: Any):
            self._connection = connection

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

        def execute(self, *arguments: Any) -> Any:
            asked.append(arguments[0])
            return self._connection.execute(*arguments)

    @contextmanager
    def watched(path: Path, **options: Any) -> Iterator[Any]:
        with attached(path, **options) as connection:
            yield Watched(connection)

    monkeypatch.setattr("resources.warehouse.attached", watched)
    warehouse = Warehouse(home / "warehouse.duckdb")
    warehouse.check()
    warehouse.check()

    assert asked == [sql_text("version_columns"), sql_text("version_read")]
    assert SQL_ROOT.is_dir()
