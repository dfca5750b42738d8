"""All stores are looked at before one is changed; whatever is wrong with a home is one sentence."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, nullcontext
from pathlib import Path

import dagster as dg
import duckdb
import pytest

from assets.common.failures import plain_errors
from dagster_project.cli import main as loom
from resources import stores_of_home as stores
from resources.migrations import StoreError
from resources.stores_of_home import bring_home_up_to_date, usable_home
from tests.homes.kept import unpack
from tests.resources.older_stores import (
    small_kind,
    small_sql,
    sqlite_of_the_baseline,
    warehouse_of_the_baseline,
)

pytestmark = pytest.mark.slow

SQLITE = ("ledger.sqlite", "review.sqlite", "image_index.sqlite")
COMMANDS = (
    "demo",
    "dry-run",
    "review serve",
    "ui",
    "run release",
    "sql .tables",
    "review export --out out.jsonl",
    "release list",
    "release show x",
    "release import .",
    "result show",
    "result export-critic x",
    "result remove-predictions x m",
    "model ask offline-careful Why?",
    "model re-ask --stage evaluate/answers",
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of 0.2.0, in use."""
    folder = unpack(tmp_path)
    monkeypatch.setenv("LOOM_WORKSPACE", str(folder))
    return folder


def refused(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one sentence with which a command ends, with exit code 2."""
    capsys.readouterr()
    assert loom(command.split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.endswith(".\n")
    return said


def test_a_database_that_a_backup_of_a_stranger_names_is_not_called_the_user_s(folder, capsys):
    named = folder / "stores-database.txt"
    named.write_text("postgresql://x@evil.example.com/loom\n")
    said = refused("release list", capsys)
    assert said.startswith(f"{named} says that the stores of {folder} are in postgresql://x@evil")
    assert "LOOM_STORES is not set: set it to that database if it is yours. To go on" in said


def state(folder: Path) -> dict[str, object]:
    """What tells versions apart: tables of SQLite files and their number, tables of the warehouse."""
    found: dict[str, object] = {}
    for name in SQLITE:
        with closing(sqlite3.connect(folder / name)) as connection:
            found[name] = (
                connection.execute("PRAGMA user_version").fetchone(),
                connection.execute("SELECT name, sql FROM sqlite_master ORDER BY 1").fetchall(),
            )
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        tables = "SELECT schema_name, table_name, sql FROM duckdb_tables() ORDER BY ALL"
        found["warehouse.duckdb"] = connection.execute(tables).fetchall()
    return found


def run_in(path: Path, statement: str) -> None:
    module = duckdb if path.suffix == ".duckdb" else sqlite3
    with closing(module.connect(str(path))) as connection:
        connection.execute(statement)


HARM = {
    "a stray column": ("warehouse.duckdb", "ALTER TABLE cluster.buckets ADD COLUMN x VARCHAR"),
    "an index": ("warehouse.duckdb", "CREATE INDEX mine ON cluster.buckets (note_id)"),
    **{f"{name} of the future": (name, "PRAGMA user_version = 999") for name in SQLITE},
    "a ledger without a table": ("ledger.sqlite", "DROP TABLE buckets"),
}


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home in use whose stores are of a small form, as the baseline left them."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("LOOM_WORKSPACE", str(folder))
    kind = small_kind(tmp_path / "kind")
    monkeypatch.setattr(stores, "SQLITE", dict.fromkeys(SQLITE, kind))
    for name in SQLITE:
        sqlite_of_the_baseline(folder / name)
    with small_sql(tmp_path / "sql"):
        warehouse_of_the_baseline(folder / "warehouse.duckdb")
        yield folder


@pytest.mark.parametrize("harm", [*HARM, None])
def test_a_refused_upgrade_changes_no_store_and_one_without_harm_changes_all(harm, older):
    if harm is not None:
        name, statement = HARM[harm]
        run_in(older / name, statement)
    before = state(older)
    with nullcontext() if harm is None else pytest.raises(StoreError):
        bring_home_up_to_date()
    after = state(older)
    assert [name for name in before if before[name] != after[name]] == (
        list(before) if harm is None else []
    )


@pytest.mark.parametrize(
    ("command", "left"),
    [*((command, "ledger.sqlite") for command in COMMANDS), ("release list", "warehouse.duckdb")],
)
def test_every_command_refuses_a_home_from_before_the_baseline_also_what_is_left_of_one(
    command, left, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    statements = {
        "ledger.sqlite": "PRAGMA user_version = 7",
        "warehouse.duckdb": "CREATE TABLE main.schema_version AS SELECT 45 AS version, '' AS declared",
    }
    run_in(tmp_path / left, statements[left])

    assert refused(command, capsys) == (
        f"{tmp_path / left} was made before vlm-loom 0.2.0, the first version whose workspaces later "
        f"versions open: keep {tmp_path} for the version that made it, and set LOOM_WORKSPACE to "
        "another folder.\n"
    )
    assert {each.name for each in tmp_path.iterdir()} <= {left, f"{left}.lock"}


@pytest.mark.parametrize("name", SQLITE)
def test_a_damaged_sqlite_file_is_named(name, folder, capsys):
    path = folder / name
    content = path.read_bytes()
    said = rf"^{path} (cannot be opened|is damaged) .*: "
    for harmed in (content[::-1], content[: len(content) // 2]):
        path.write_bytes(harmed)
        with pytest.raises(StoreError, match=f"{said}restore a backup"):
            bring_home_up_to_date()
    told = refused("demo", capsys)
    assert ("all answers are requested and paid for again" in told) == (name == "ledger.sqlite")
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError, match=f"{said}put that right"):
        bring_home_up_to_date()


def test_a_home_that_is_a_file_or_may_not_be_written_is_not_called_damaged(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("LOOM_WORKSPACE", __file__)
        with pytest.raises(StoreError, match=f"{__file__} is a file: set LOOM_WORKSPACE to a fold"):
            bring_home_up_to_date()
    # Nobody keeps root from writing but the system itself.
    monkeypatch.setattr("resources.files.home.os.access", lambda path, mode: False)
    said = rf"^The workspace {folder} cannot be used .*: make it a folder"
    with pytest.raises(StoreError, match=said):
        bring_home_up_to_date()


def test_a_file_that_others_hold_is_not_called_damaged(folder, monkeypatch):
    monkeypatch.setattr("resources.stores.sqlite.BUSY_TIMEOUT", 0.1)
    with closing(sqlite3.connect(folder / "ledger.sqlite", isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(StoreError, match="locked.*: put that right, and start again") as caught:
            bring_home_up_to_date()

    assert "restore" not in str(caught.value)


UNUSABLE = "The workspace {home} cannot be used ({error}): "


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.ENOSPC, "The disk of {home}/reports/a file is full ("),
        (errno.EDQUOT, "The disk of {home}/reports/a file has no more room for this user ("),
        (errno.EROFS, f"{UNUSABLE}mount its file system for writing"),
        (errno.EACCES, f"{UNUSABLE}make it a folder that you may write"),
    ],
)
def test_a_home_that_cannot_be_written_is_one_sentence_of_a_command_and_of_a_step(
    number, said, tmp_path, monkeypatch
):
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    error = OSError(number, os.strerror(number), str(tmp_path / "reports" / "a file"))
    for context, kind in ((usable_home, StoreError), (plain_errors, dg.Failure)):
        with pytest.raises(kind) as refused, context():
            raise error
        told = refused.value.description if kind is dg.Failure else str(refused.value)
        assert told.startswith(said.format(home=tmp_path, error=error)) and "\n" not in told


def test_a_file_elsewhere_that_may_not_be_read_is_no_fault_of_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "home"))
    with pytest.raises(PermissionError), plain_errors():
        raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / "shard.tsv"))
