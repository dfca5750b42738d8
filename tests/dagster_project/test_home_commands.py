"""Commands on a home, as make runs them; and what every command says of a home from the future."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from dagster_project import demo, dry_run, home, ui
from resources.home_cleaning import clean
from resources.images.store import ImageStore
from resources.reports.release_folder import write_release
from resources.reports.release_import import RELEASE_TABLES
from resources.stores import bring_home_up_to_date
from resources.warehouse import Warehouse
from review.__main__ import main as review
from tests.homes.version_1 import unpack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first release's small home, in use."""
    folder = unpack(tmp_path)
    monkeypatch.setenv("LOOM_HOME", str(folder))
    return folder


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir() if not each.name.endswith(".lock")}


# --- Backing up and restoring --------------------------------------------------------------------


def test_a_backup_stands_beside_the_home_under_its_time(folder: Path, capsys) -> None:
    assert home.main(["backup"]) == 0

    (made,) = [each for each in (folder.parent / "backups").iterdir() if each.is_dir()]
    assert capsys.readouterr().out.endswith(f"files in {made}\n")
    assert {"backup.json", "warehouse.duckdb", "ledger.sqlite", "releases"} <= names(made)


def test_what_was_backed_up_is_restored_over_a_home_only_when_told_so(
    folder: Path, tmp_path: Path, capsys
) -> None:
    backup = str(tmp_path / "backup")
    assert home.main(["backup", "--to", backup]) == 0
    (folder / "review.yaml").write_text("{}")

    assert home.main(["restore", "--from", backup]) == 2
    assert "say OVERWRITE=yes" in capsys.readouterr().err
    assert home.main(["restore", "--from", backup, "--overwrite"]) == 0

    assert (folder / "review.yaml").read_text() != "{}"
    assert "The earlier home is" in capsys.readouterr().out


def test_make_hands_its_settings_on(folder: Path, tmp_path: Path) -> None:
    """As a user types it; the virtual environment is there already."""
    shown = subprocess.run(
        [
            "make",
            "-n",
            "backup",
            "TO=/a b",
            "restore",
            "FROM=/c",
            "OVERWRITE=yes",
            "clean",
            "ALL=yes",
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHON": sys.executable},
    ).stdout
    assert '-m dagster_project.home backup --to "/a b"' in shown
    assert '-m dagster_project.home restore --from "/c" --overwrite' in shown
    assert "-m dagster_project.home clean --all" in shown
    plain = subprocess.run(["make", "-n", "clean"], capture_output=True, text=True).stdout
    assert "dagster_project.home clean" in plain and "--all" not in plain


# --- Importing -----------------------------------------------------------------------------------


def test_a_release_is_imported_into_a_new_home(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    warehouse = Warehouse(folder / "warehouse.duckdb")
    card = warehouse.read("release/current").to_pylist()[0]
    where = {"release_id": card["release_id"]}
    rows = {t: warehouse.read(f"release/{t}_of", where).to_pylist() for t in RELEASE_TABLES}
    write_release(folder / "releases", card, rows, ImageStore(folder / "images"))
    release = folder / "releases" / card["release_id"]
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "new"))

    assert home.main(["import-release", "--from", str(release)]) == 0
    assert capsys.readouterr().out == (
        f"Release {card['release_id']} is in {tmp_path / 'new'}, in force.\n"
    )
    assert Warehouse(tmp_path / "new" / "warehouse.duckdb").count("release.releases") == 1

    assert home.main(["import-release", "--from", str(tmp_path)]) == 2
    assert "is no release: give a folder" in capsys.readouterr().err


# --- Cleaning ------------------------------------------------------------------------------------


def test_cleaning_keeps_what_cannot_be_made_again(folder: Path, capsys) -> None:
    for name in ("reports", "staging", "downloads", "wikipedia", "ray", "dagster"):
        (folder / name).mkdir()
        (folder / name / "file").write_text("x")
    kept = {
        "dagster", "image_index.sqlite", "images", "ledger.sqlite", "releases", "review.sqlite",
        "review.yaml", "warehouse.duckdb",
    }  # fmt: skip

    assert home.main(["clean"]) == 0

    assert names(folder) == kept
    said = capsys.readouterr().out
    assert f"Removed from {folder}: downloads, ray, reports, staging, wikipedia\n" in said
    assert f"Kept: {', '.join(sorted(kept))} (ALL=yes removes these, too" in said


def test_everything_goes_when_told_so(folder: Path) -> None:
    assert home.main(["clean", "--all"]) == 0
    assert list(folder.iterdir()) == []
    assert clean(folder / "not there") == ([], [])


# --- A home from the future ----------------------------------------------------------------------

COMMANDS: dict[str, Callable[[], object]] = {
    "demo": demo.main,
    "dry-run": dry_run.main,
    "review": lambda: review(["serve"]),
    "ui": ui.main,
}


def code_of(command: Callable[[], object]) -> object:
    try:
        return command()
    except SystemExit as left:
        return left.code


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("store", ["ledger.sqlite", "review.sqlite", "image_index.sqlite"])
def test_a_command_refuses_a_store_of_a_later_version_in_one_sentence(
    command: str, store: str, folder: Path, capsys
) -> None:
    bring_home_up_to_date()
    with closing(sqlite3.connect(folder / store)) as connection:
        connection.execute("PRAGMA user_version = 99")

    assert code_of(COMMANDS[command]) == 2

    said = capsys.readouterr().err
    assert said.startswith(f"{folder / store} has version 99") and said.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_refuses_a_warehouse_of_a_later_version_in_one_sentence(
    command: str, folder: Path, capsys
) -> None:
    import duckdb

    bring_home_up_to_date()
    with duckdb.connect(str(folder / "warehouse.duckdb")) as connection:
        connection.execute("UPDATE main.schema_version SET version = 99")

    assert code_of(COMMANDS[command]) == 2

    said = capsys.readouterr().err
    assert said.startswith(f"{folder / 'warehouse.duckdb'} has version 99")
    assert said.count("\n") == 1


def test_a_home_that_is_not_there_yet_is_not_made_by_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOM_HOME", str(tmp_path / "new"))
    bring_home_up_to_date()
    assert not (tmp_path / "new").exists()
