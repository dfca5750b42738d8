"""Backups of strangers: DuckDB runs no macro of theirs, no view that reads a file, and computes no
column; SQLite runs no trigger or view of theirs, and no check or index computes anything.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from resources.llm.ledger.check import check_all
from resources.review.tables import REVIEW
from resources.store_damage import duckdb_damage
from resources.stores.sqlite import SqliteStore
from resources.stores_of_home import SQLITE
from resources.upkeep.backup import back_up
from resources.upkeep.backup_contents import BackupError
from resources.upkeep.restore import restore
from resources.warehouse import Warehouse
from resources.warehouse.declarations import sql_text
from tests.homes.kept import unpack
from tests.resources.upkeep.test_backup import trust

NAME = "warehouse.duckdb"
NOT_STORED = "has views or generated columns in place of stored"


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = unpack(tmp_path_factory.mktemp("upgraded"))
    Warehouse(home / NAME).check()
    return home


@pytest.fixture
def home(upgraded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(upgraded, tmp_path / "home"))


def tampered(home: Path, backup: Path, script: str, name: str = NAME) -> Path:
    """A backup of a workspace in which a stranger ran a script, with a manifest that fits."""
    back_up(home, backup)
    if name == NAME:
        with duckdb.connect(str(backup / name)) as connection:
            connection.execute(script)
    else:
        with closing(sqlite3.connect(backup / name)) as store:
            store.executescript(script)
    trust(backup, name)
    return backup


@pytest.mark.parametrize(
    ("name", "script", "said"),
    [
        (
            NAME,
            """
            ALTER TABLE release.exports RENAME TO old;
            CREATE VIEW release.exports AS
            SELECT i::VARCHAR AS path, '' AS sha256 FROM range(1000000000000000) t(i);
            """,
            NOT_STORED,
        ),
        (
            NAME,
            """
            DROP TABLE release.exports;
            CREATE TABLE release.exports (i INTEGER, path VARCHAR AS (repeat('x', i)));
            """,
            NOT_STORED,
        ),
        (
            "review.sqlite",
            "ALTER TABLE events RENAME TO old; CREATE VIEW events AS SELECT * FROM old;",
            r"was not restored .* \(no such table: main.events\)",
        ),
    ],
    ids=["view", "generated column", "view of SQLite"],
)
def test_what_stands_in_place_of_a_table_is_not_read(home, tmp_path, name, script, said):
    open_all(home)
    backup = tampered(home, tmp_path / "backup", script, name)
    with pytest.raises(BackupError, match=said):
        restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_the_generated_columns_of_other_tables_are_not_computed(tmp_path: Path) -> None:
    script = """
        CREATE SCHEMA mine;
        CREATE TABLE mine."my notes" (
            "a ""b" INTEGER, much VARCHAR GENERATED ALWAYS AS (repeat('x', "a ""b"))
        );
        CREATE TABLE plain (i INTEGER DEFAULT 3, note VARCHAR);
    """
    with duckdb.connect(str(tmp_path / NAME)) as connection:
        connection.execute(script)
        assert sorted(connection.execute(sql_text("stored_columns")).fetchall()) == [
            ('"main"."plain"', '"i", "note"'),
            ('"mine"."my notes"', '"a ""b"'),
        ]
    assert duckdb_damage(tmp_path / NAME) is None


def test_macros_that_hide_views_and_views_that_read_files_are_not_restored(home, tmp_path):
    script = """
        CREATE OR REPLACE VIEW evaluate.results AS SELECT content FROM read_text('/etc/passwd');
        ALTER TABLE main.schema_version RENAME TO old;
        CREATE VIEW main.schema_version AS SELECT 119 AS version, content AS declared
        FROM read_text('/etc/passwd');
        CREATE SCHEMA mine;
        CREATE VIEW mine."my answers" AS SELECT * FROM dialogue.answers;
        CREATE VIEW mine."my files" AS SELECT * FROM glob('/**');
        CREATE MACRO mine.doubled(n) AS 2 * n;
        CREATE MACRO mine.file(name) AS TABLE SELECT content FROM read_text(name);
        CREATE MACRO main.current_database() AS 'nothing';
        CREATE MACRO main.replace(text, old, new) AS 'nothing';
    """
    backup = tampered(home, tmp_path / "backup", script)
    assert restore(backup, tmp_path / "again").dropped == [
        'macro "main"."current_database"',
        'macro "main"."replace"',
        'macro "mine"."doubled"',
        'macro table "mine"."file"',
        'view "main"."schema_version"',
        'view "mine"."my files"',
    ]
    restored, original = Warehouse(tmp_path / "again" / NAME), Warehouse(home / NAME)
    for name in ("evaluate.results", "release.exports"):
        assert restored.fingerprint(name) == original.fingerprint(name)
    assert restored.sql('SELECT * FROM mine."my answers"').num_rows == original.count(
        "dialogue.answers"
    )


def code(path: Path) -> list[tuple[str, str, str]]:
    """Triggers, views and indexes of a SQLite file."""
    query = "SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY 2"
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize(
    ("name", "script", "dropped"),
    [
        (
            "review.sqlite",
            """
            CREATE TRIGGER "a ""b" AFTER INSERT ON events
            BEGIN DELETE FROM events WHERE event_id = NEW.event_id; END;
            """,
            ['trigger a "b of review.sqlite'],
        ),
        (
            "review.sqlite",
            """
            DROP VIEW in_force;
            CREATE VIEW in_force AS SELECT * FROM events WHERE verdict <> 'reject';
            DROP TRIGGER events_no_delete;
            """,
            [],
        ),
        (
            "ledger.sqlite",
            "CREATE INDEX z ON calls (hex(zeroblob(1000)), model);",
            ["index z of ledger.sqlite"],
        ),
        (
            "dagster/storage/runs.db",
            "CREATE TABLE r (i); CREATE TRIGGER z AFTER INSERT ON r BEGIN DELETE FROM r; END;",
            ["trigger z of dagster/storage/runs.db"],
        ),
    ],
)
def test_a_store_is_restored_with_its_own_triggers_and_views(home, tmp_path, name, script, dropped):
    open_all(home)
    backup = tampered(home, tmp_path / "backup", script, name)
    assert restore(backup, tmp_path / "again").dropped == dropped
    assert code(tmp_path / "again" / name) == code(home / name)


def test_a_check_without_end_stops_neither_a_restore_nor_a_look_at_the_ledger(home, tmp_path):
    open_all(home)
    script = """
        PRAGMA ignore_check_constraints = ON;
        CREATE TABLE x (a CHECK (instr(zeroblob(100000000), zeroblob(50000000) || x'01') = 0));
        INSERT INTO x VALUES (1);
    """
    backup = tampered(home, tmp_path / "backup", script, "ledger.sqlite")
    restore(backup, tmp_path / "again")
    assert check_all(tmp_path / "again" / "ledger.sqlite").wrong == []


def test_an_upgrade_ends_with_the_store_s_own_triggers_and_views(home, tmp_path):
    old = unpack(tmp_path / "old") / "review.sqlite"
    with closing(sqlite3.connect(old)) as store:
        store.execute("CREATE TRIGGER z AFTER INSERT ON events BEGIN SELECT RAISE(IGNORE); END")
    for path in (old, home / "review.sqlite"):
        SqliteStore(REVIEW, path).close()
    assert code(old) == code(home / "review.sqlite") != []


def open_all(home: Path) -> None:
    """Bring the stores of a workspace up to date, and give Dagster a database."""
    for name, kind in SQLITE.items():
        SqliteStore(kind, home / name).close()
    (home / "dagster" / "storage").mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(home / "dagster" / "storage" / "runs.db")) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (i)")
