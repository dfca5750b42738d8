"""Older files become current ones and nothing is lost; those of other versions are refused."""

import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from resources.files.bounded import file_hash
from resources.files.home import REPO_ROOT
from resources.images.index import ImageIndex
from resources.llm.ledger.ledger import Ledger
from resources.migrations import BASELINE, StoreError, current_version, migrations
from resources.review.store import ReviewStore
from resources.stores import look
from resources.stores.sqlite import SqliteStore, require_upgradable
from resources.stores_of_home import SQLITE
from resources.warehouse import Warehouse, WarehouseError
from resources.warehouse.declarations import sql_text
from resources.warehouse.versions import MIGRATIONS
from resources.warehouse.versions import current_version as version_of_tables
from tests.homes.kept import VERSIONS, unpack
from tests.resources.older_stores import (
    TODAY,
    forget_sql,
    small_kind,
    small_sql,
    sqlite_of_the_baseline,
    warehouse_of_the_baseline,
)
from tests.resources.store_files import (
    assert_same_rows,
    form_of_duckdb,
    form_of_sqlite,
    rows_of_duckdb,
    rows_of_sqlite,
)
from tests.resources.test_migrations_killed import watched_statements

pytestmark = pytest.mark.slow

FOLDERS = [MIGRATIONS, *(kind.steps for kind in SQLITE.values())]
FORMER_BIAS_TESTS = {
    "evaluate.probe_judgments": "evaluate.bias_test_judgments",
    "evaluate.judge_probes": "evaluate.judge_bias_tests",
}


LANDED = Path(__file__).with_name("landed_migrations.sha256")
"""Steps as `sha256sum` lists them. Homes have run them: a line is added, never changed."""


def test_a_step_that_has_landed_keeps_its_number_its_name_and_its_content():
    steps = [step.path for folder in FOLDERS for step in migrations(folder)]
    assert sorted(LANDED.read_text().splitlines()) == sorted(
        f"{file_hash(path)}  {path.relative_to(REPO_ROOT).as_posix()}" for path in steps
    )


@pytest.fixture(scope="module", params=VERSIONS)
def kept(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a version. Not to be changed: tests open copies."""
    return unpack(tmp_path_factory.mktemp("kept"), request.param)


@pytest.fixture
def home(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "home"))


def test_a_kept_warehouse_gets_the_form_that_sql_declares_and_loses_no_row(home, empty_tables):
    before = rows_of_duckdb(home / "warehouse.duckdb")
    n_images = Counter(row["set_id"] for row in before["cluster.image_sets"])
    for row in before["dialogue.questions"]:
        # No question of 0.2.0 is about a part of the images of its set.
        assert row.pop("until_position") is None and row.pop("scope")
        position = row.pop("position")
        row["positions"] = [position] if position else [*range(1, n_images[row["set_id"]] + 1)]
    before["cluster.splits"] = before.pop("cluster.sides")
    reasons = {"drawn": "sampled", "bridges_sides": "bridges_splits"}
    for row in before["cluster.splits"] + before["evaluate.critic_pairs"]:
        row["split"] = row.pop("side")
        if row.get("reason") in reasons:
            row["reason"] = reasons[row["reason"]]
    for former, current in FORMER_BIAS_TESTS.items():
        before[current] = before.pop(former)
        for row in before[current]:
            row["bias_test"] = row.pop("probe")
    for row in before["evaluate.findings"]:
        if row["analysis"] == "wording_effects":
            row["analysis"] = "prompt_sensitivity"
    for row in before["ledger.calls"]:
        row["stage"] = row["stage"].replace("judge_probes", "judge_bias_tests")
    # Images are compared again: both tables can be made from the images.
    assert before.pop("cluster.picture_miniatures")
    before["cluster.picture_pairs"] = []
    for table in before.keys() - {"release.releases"}:
        for row in [row for row in before[table] if row.get("provider")]:
            row["provider"] = row["provider"].replace("offline", "mock")

    Warehouse(home / "warehouse.duckdb").check()

    assert form_of_duckdb(home / "warehouse.duckdb") == form_of_duckdb(empty_tables)
    after = rows_of_duckdb(home / "warehouse.duckdb")
    assert_same_rows({table: after[table] for table in before}, before)
    assert not any(after[table] for table in after.keys() - before.keys())
    assert len(before["release.releases"]) == 4 and len(before["evaluate.scores"]) > 40


@pytest.mark.parametrize(("name", "kind"), SQLITE.items(), ids=list(SQLITE))
def test_a_kept_sqlite_file_gets_the_form_that_its_schema_declares_and_loses_no_row(
    name, kind, home, tmp_path
):
    before = rows_of_sqlite(home / name)
    for column, was, today in (
        ("provider", "offline", "mock"),
        ("stage", "judge_probes", "judge_bias_tests"),
    ):
        for row in [row for table in before.values() for row in table if row.get(column)]:
            row[column] = row[column].replace(was, today)

    for path in (home / name, tmp_path / "new.sqlite"):
        SqliteStore(kind, path)

    assert form_of_sqlite(home / name) == form_of_sqlite(tmp_path / "new.sqlite")
    after = rows_of_sqlite(home / name)
    for table, rows in before.items():
        kept = [{column: row[column] for column in rows[0]} for row in after[table]] if rows else []
        assert kept == rows, table
    assert not any(after[table] for table in after.keys() - before.keys())
    assert sum(map(len, before.values())) > 10


def test_what_was_answered_decided_and_fetched_is_known(home):
    keys = [row["key"] for row in rows_of_sqlite(home / "ledger.sqlite")["calls"]]
    events = rows_of_sqlite(home / "review.sqlite")["events"]
    urls = [row["url"] for row in rows_of_sqlite(home / "image_index.sqlite")["fetched"]]

    assert set(Ledger(home / "ledger.sqlite").find(keys)) == set(keys) != set()
    decided = [each.event_id for each in ReviewStore(home / "review.sqlite").decisions()]
    assert decided == [event["event_id"] for event in events] != []
    assert set(ImageIndex(home / "image_index.sqlite").entries(urls)) == set(urls) != set()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("CREATE TABLE marks (n INTEGER)", "step to version 103 does not fit it (table marks"),
        ("DROP TABLE buckets", "step to version 101 does not fit it (no such table: buckets"),
        ("ALTER TABLE buckets DROP COLUMN note_id", "but lacks column groups.note_id"),
    ],
)
def test_a_sqlite_file_with_the_number_of_a_version_and_other_tables_is_refused_and_not_touched(
    tmp_path, change, said
):
    kind = small_kind(tmp_path / "kind")
    older = sqlite_of_the_baseline(tmp_path / "older.sqlite")
    read = f"has version {BASELINE} and is read as version {TODAY}"
    with pytest.raises(StoreError, match=read):
        look(kind, older, lambda connection: connection.exec_driver_sql("SELECT 1").fetchone())
    with closing(sqlite3.connect(older)) as connection:
        connection.execute(change)
    before = older.read_bytes()

    with pytest.raises(StoreError) as refused:
        require_upgradable(kind, older)

    assert said in str(refused.value) and "version of vlm-loom that made it" in str(refused.value)
    assert older.read_bytes() == before


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Path]:
    """A warehouse of the small form as the baseline left it, which lacks three steps."""
    with small_sql(tmp_path / "sql"):
        yield warehouse_of_the_baseline(tmp_path / "warehouse.duckdb")


@pytest.fixture
def current(older: Path) -> Path:
    """The same, brought to today's version."""
    Warehouse(older).check()
    return older


OPENERS: dict[str, Callable[[Path], object]] = {
    "warehouse.duckdb": lambda path: Warehouse(path).check(),
    "ledger.sqlite": Ledger,
    "review.sqlite": ReviewStore,
    "image_index.sqlite": ImageIndex,
}


def give_version(path: Path, version: int) -> None:
    """A store of this form with the number of another version; 0 for none."""
    OPENERS[path.name](path)
    if path.suffix == ".duckdb":
        statement = f"UPDATE main.schema_version SET version = {version}"
        if not version:  # As a hash of the declarations once stood there.
            statement = "CREATE OR REPLACE TABLE main.schema_version (version VARCHAR)"
        with duckdb.connect(str(path)) as connection:
            connection.execute(statement)
        return
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


EARLIER = r"was made before vlm-loom 0\.2\.0, .*: keep .* for the version that made it"
LATER = "has version 999 and .* versions up to {known}: a newer .* Update vlm-loom, or restore"


@pytest.mark.parametrize(
    ("name", "version", "said"),
    [
        ("warehouse.duckdb", 0, EARLIER),
        ("ledger.sqlite", 0, EARLIER),
        *((name, BASELINE - 1, EARLIER) for name in ("warehouse.duckdb", "review.sqlite")),
        *((name, 999, LATER) for name in OPENERS),
    ],
)
def test_a_store_of_another_version_is_refused_in_one_sentence_and_not_touched(
    name, version, said, tmp_path
):
    path = tmp_path / name
    give_version(path, version)
    before = path.read_bytes()
    known = current_version(SQLITE[name].steps if name in SQLITE else MIGRATIONS)

    with pytest.raises(StoreError, match=rf"^{path} {said.format(known=known)}[^\n]*$") as caught:
        OPENERS[name](path)

    assert path.read_bytes() == before
    assert isinstance(caught.value, WarehouseError) == (name == "warehouse.duckdb")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ("DROP COLUMN note_id", "cluster.groups lacks the column note_id"),
        ("ADD COLUMN extra VARCHAR", "cluster.groups has the unexpected column extra"),
        (
            "ALTER group_id TYPE BIGINT USING 1",
            "the column group_id of cluster.groups is BIGINT NOT NULL instead of VARCHAR NOT NULL",
        ),
    ],
)
def test_another_form_is_refused_when_the_file_is_opened_and_nothing_is_to_be_deleted(
    change, difference, older
):
    with duckdb.connect(str(older)) as connection:
        connection.execute(f"ALTER TABLE cluster.buckets {change}")
    before = rows_of_duckdb(older)

    with pytest.raises(WarehouseError) as caught:
        Warehouse(older).check()

    assert str(caught.value).startswith(
        f"{older} is a file of version {BASELINE}, but {difference}: keep the file"
    )
    assert not re.search("delete|remove|move it away", str(caught.value))
    assert rows_of_duckdb(older) == before, "no migration was begun"


@pytest.mark.parametrize(
    ("was", "now", "difference"),
    [
        ("group_id", "n_models INTEGER, group_id", "cluster.groups lacks the column n_models"),
        (");", "); CREATE TABLE cluster.tones (n INTEGER);", "table cluster.tones is missing"),
    ],
)
def test_of_what_sql_declares_without_a_migration_the_missing_step_is_named(
    was, now, difference, current, tmp_path
):
    schema = tmp_path / "sql" / "cluster" / "schema.sql"
    schema.write_text(schema.read_text().replace(was, now))
    forget_sql()

    with pytest.raises(WarehouseError) as caught:
        Warehouse(current).check()
    step = f"sql/migrations/{version_of_tables() + 1:04}_<what it does>.sql"
    assert f"{difference}: if you changed sql/, add the step" in str(caught.value)
    assert step in str(caught.value)


@pytest.mark.parametrize(
    ("made", "named"),
    [
        ("CREATE INDEX mine ON cluster.buckets (note_id)", "the index mine on cluster.buckets:"),
        ("CREATE TABLE rewrite.marks (n INTEGER)", "marks"),
        ("CREATE VIEW rewrite.marks AS SELECT 1 AS n", "marks"),
        ("ALTER TABLE ingest.notes DROP COLUMN text", "text"),
    ],
)
def test_what_is_in_the_way_of_a_migration_is_named_and_nothing_is_changed(made, named, older):
    with duckdb.connect(str(older)) as connection:
        # An index that is in nobody's way is not named.
        connection.execute("CREATE TABLE review.notes AS SELECT 'mine' AS note")
        connection.execute("CREATE INDEX other ON review.notes (note)")
        connection.execute(made)
    before = rows_of_duckdb(older)

    with pytest.raises(WarehouseError, match=r"^[^\n]+$") as caught:
        Warehouse(older).check()

    said = str(caught.value)
    assert said.startswith(f"{older} cannot be brought to this version")
    assert named in said and "start again" in said and "index other" not in said
    assert rows_of_duckdb(older) == before, "no migration was begun"


@pytest.mark.parametrize("change", ["DELETE FROM", "INSERT INTO main.schema_version FROM"])
def test_a_warehouse_that_does_not_say_its_version_is_one_sentence(change, current):
    with duckdb.connect(str(current)) as connection:
        connection.execute(f"{change} main.schema_version")

    with pytest.raises(WarehouseError, match=r"main\.schema_version has [02] rows instead of one"):
        Warehouse(current).check()


def test_changed_views_are_made_without_a_migration_and_a_persons_stay(current, tmp_path):
    with duckdb.connect(str(current)) as connection:
        connection.execute("CREATE TABLE review.mine AS SELECT 'mine' AS note")
        connection.execute("CREATE VIEW evaluate.mine AS FROM review.mine")
    view = tmp_path / "sql" / "ingest" / "views.sql"
    view.write_text(view.read_text().replace("n_words FROM", "2 * n_words AS n_words FROM"))
    forget_sql()

    lengths = Warehouse(current).sql("SELECT n_words FROM ingest.lengths ORDER BY ALL")

    assert lengths.column("n_words").to_pylist() == [2, 4, 6]
    assert Warehouse(current).sql("FROM evaluate.mine").to_pylist() == [{"note": "mine"}]


def test_opening_a_current_warehouse_asks_for_its_version_alone(current):
    asked = []
    with watched_statements(lambda *statement: asked.extend(statement)):
        warehouse = Warehouse(current)
        warehouse.check()
        warehouse.check()

    assert asked == [sql_text("version_columns"), sql_text("version_read")]
