"""Advice of messages, followed to the letter: it leads to a workspace that works, and loses nothing."""

import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from dagster_project.cli import main as loom
from resources.stores.sqlite_errors import is_damaged
from resources.upkeep.backup import back_up
from resources.warehouse import Warehouse, WarehouseError, file_database

LIST = ["release", "list"]
Home = Path


@pytest.fixture
def home(small_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Path(shutil.copytree(small_home, tmp_path / "home"))
    monkeypatch.setenv("LOOM_WORKSPACE", str(home))
    return home


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The sentence that a command is refused with."""

    def sentence(*words: str) -> str:
        capsys.readouterr()
        assert loom(words) == 2
        return " ".join(capsys.readouterr().err.split())

    return sentence


def damage(path: Path) -> bytes:
    path.write_bytes(b"no database " * 5_000)
    Path(f"{path}{'.wal' if path.suffix == '.duckdb' else '-wal'}").write_bytes(b"its log")
    return path.read_bytes()


@pytest.mark.parametrize("name", ["warehouse.duckdb", "image_index.sqlite"])
def test_a_damaged_file_is_moved_with_its_log_and_the_home_begins_without_it(
    name: str, home: Home, tmp_path: Path, refused: Callable[..., str]
) -> None:
    damaged = damage(home / name)
    advice = re.search(r"move it and any (\S+) file next to it into another folder", refused(*LIST))
    assert advice
    aside = tmp_path / "aside"
    aside.mkdir()
    for path in (home / name, Path(f"{home / name}{advice[1]}")):
        if path.exists():
            path.rename(aside / path.name)
    assert loom(LIST) == 0
    assert (aside / name).read_bytes() == damaged


@pytest.mark.parametrize("name", ["warehouse.duckdb", "ledger.sqlite"])
def test_a_backup_is_restored_over_a_home_with_a_damaged_file_which_stays_aside(
    name: str, home: Home, tmp_path: Path, refused: Callable[..., str]
) -> None:
    back_up(home, tmp_path / "backup")
    damaged = damage(home / name)
    assert "restore a backup (vlm-loom workspace restore)" in refused(*LIST)
    assert "Pass --overwrite" in refused("workspace", "restore", str(tmp_path / "backup"))
    assert loom(["workspace", "restore", str(tmp_path / "backup"), "--overwrite"]) == 0
    assert loom(LIST) == 0
    (earlier,) = tmp_path.glob("home.before-*")
    assert (earlier / name).read_bytes() == damaged


def test_a_file_that_is_not_proven_damaged_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise duckdb.IOException("Serialization Error: Failed to deserialize: unknown type 77")

    monkeypatch.setattr(file_database, "attached", refuses)
    with pytest.raises(WarehouseError, match="cannot be opened.*keep the file") as refused:
        Warehouse(tmp_path / "warehouse.duckdb").check()
    assert not re.search("damaged|move|remove|delete", str(refused.value))


def test_a_store_is_damaged_where_its_content_says_so() -> None:
    for code, message, damaged in (
        (sqlite3.SQLITE_CORRUPT, "database disk image is malformed", True),
        (sqlite3.SQLITE_NOTADB, "file is not a database", True),
        (sqlite3.SQLITE_ERROR, "no such table: calls", True),
        (sqlite3.SQLITE_CANTOPEN, "unable to open database file", False),
        (sqlite3.SQLITE_ERROR, "unsupported file format", False),
        (sqlite3.SQLITE_FULL, "database or disk is full", False),
    ):
        error = sqlite3.OperationalError(message)
        error.sqlite_errorcode = code
        assert is_damaged(error) == damaged, message


def test_a_home_of_another_time_stays_where_it_is_and_another_one_is_used(
    home: Home, tmp_path: Path, refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite3.connect(home / "review.sqlite") as connection:
        connection.execute("PRAGMA user_version = 7")
    connection.close()
    sentence = refused(*LIST)
    assert f"keep {home} for the version that made it, and set LOOM_WORKSPACE" in sentence
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "another"))
    (tmp_path / "another").mkdir()
    assert loom(LIST) == 0
