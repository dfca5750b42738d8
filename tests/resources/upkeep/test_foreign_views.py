"""Backups of strangers: DuckDB runs no macro of theirs, and no view that reads a file."""

import json
from hashlib import file_digest
from pathlib import Path

import duckdb
import pytest

from resources.upkeep.backup import back_up
from resources.upkeep.backup_contents import MANIFEST, BackupError
from resources.upkeep.restore import restore
from resources.warehouse import Warehouse
from tests.homes.kept import unpack

NAME = "warehouse.duckdb"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = unpack(tmp_path)
    Warehouse(home / NAME).check()
    return home


def tampered(home: Path, backup: Path, script: str) -> Path:
    """A backup of a workspace in which a stranger ran a script, with a manifest that fits."""
    back_up(home, backup)
    with duckdb.connect(str(backup / NAME)) as connection:
        connection.execute(script)
    manifest = json.loads((backup / MANIFEST).read_text())
    with (backup / NAME).open("rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
    size = (backup / NAME).stat().st_size
    manifest["files"][NAME] = {"n_bytes": size, "sha256": sha256}
    (backup / MANIFEST).write_text(json.dumps(manifest))
    return backup


def test_macros_of_a_backup_hide_no_view(home: Path, tmp_path: Path) -> None:
    script = """
        CREATE VIEW main.files AS SELECT * FROM glob('/**');
        CREATE MACRO main.current_database() AS 'nothing';
        CREATE MACRO main.replace(text, old, new) AS 'nothing';
    """
    backup = tampered(home, tmp_path / "backup", script)
    assert restore(backup, tmp_path / "again").dropped == [
        'macro "main"."current_database"',
        'macro "main"."replace"',
        'view "main"."files"',
    ]


@pytest.mark.parametrize(
    ("table", "view"),
    [
        (
            "release.releases",
            "SELECT content AS stolen, * FROM release.old, read_text('/etc/passwd')",
        ),
        (
            "release.exports",
            "SELECT i::VARCHAR AS path, '' AS sha256 FROM range(1000000000000000) t(i)",
        ),
    ],
)
def test_a_view_in_place_of_a_table_is_not_read(
    home: Path, tmp_path: Path, table: str, view: str
) -> None:
    script = f"ALTER TABLE {table} RENAME TO old; CREATE VIEW {table} AS {view}"
    backup = tampered(home, tmp_path / "backup", script)
    with pytest.raises(BackupError, match="views in place of tables"):
        restore(backup, tmp_path / "again")
    assert not (tmp_path / "again").exists()


def test_macros_and_views_that_read_files_are_not_restored(home: Path, tmp_path: Path) -> None:
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
    """
    backup = tampered(home, tmp_path / "backup", script)
    assert restore(backup, tmp_path / "again").dropped == [
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
