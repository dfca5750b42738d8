"""Errors that a person can put right are one sentence, and its advice works, followed to the letter."""

import importlib
import inspect
import json
import os
import pkgutil
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

import duckdb
import pytest

import assets
import dagster_project
import extras
import methods
import resources
import review
from methods.errors import UserError
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.stores.sqlite_errors import is_damaged
from resources.upkeep.backup import back_up
from resources.warehouse import Warehouse, WarehouseError, file_database
from tests.dagster_project.conftest import Refused, Typed
from tests.resources.llm.entries import call
from tests.resources.test_warehouse import TABLE, answers

PACKAGES = (methods, resources, assets, review, dagster_project, extras)
NOT_BY_NAME = {
    "resources.exports.self_contained.CannotStandAloneError": "a test finds it",
    "resources.files.parquet_pages.PageHeaderError": "is a ValueError of a damaged Parquet file",
}
"""Exceptions that no code expects by their name, and what comes of them."""


def exceptions() -> Iterator[tuple[str, type[Exception]]]:
    for package in PACKAGES:
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if info.name.endswith(("__main__", ".pod_launcher")):  # In the image alone.
                continue
            module = importlib.import_module(info.name)
            for name, each in inspect.getmembers(module, inspect.isclass):
                of_module = issubclass(each, Exception) and each.__module__ == info.name
                if of_module and not name.startswith("_"):
                    yield f"{info.name}.{name}", each


@cache
def handled() -> set[str]:
    clauses = re.compile(
        r"^\s*except (.+?)(?: as \w+)?:$|\bsuppress\((.+?)\)|\bisinstance\(\w+, (.+?)\)",
        re.MULTILINE | re.DOTALL,
    )
    files = [file for each in PACKAGES for file in Path(each.__path__[0]).rglob("*.py")]
    found = [match for file in files for match in clauses.findall(file.read_text())]
    return {name for match in found for name in re.findall(r"\w+", " ".join(match))}


def test_an_exception_is_for_the_user_or_something_handles_it() -> None:
    found = dict(exceptions())
    for_users = {name for name, each in found.items() if issubclass(each, UserError)}
    unhandled = {
        name
        for name, each in found.items()
        if not handled() & {of.__name__ for of in each.__mro__ if of.__module__ != "builtins"}
    }
    assert unhandled - for_users == NOT_BY_NAME.keys()
    assert {
        "methods.clustering.neighbours.ThresholdError",
        "methods.prompts.prompt_template.TemplateError",
        "resources.corpus.settings.CorpusError",
        "resources.llm.model_spec.RegistryError",
        "extras.label_studio.client.LabelStudioError",
    } <= for_users


LIST = "release list"


def damage(path: Path) -> bytes:
    path.write_bytes(b"no database " * 5_000)
    Path(f"{path}{'.wal' if path.suffix == '.duckdb' else '-wal'}").write_bytes(b"its log")
    return path.read_bytes()


@pytest.mark.parametrize("name", ["warehouse.duckdb", "image_index.sqlite"])
def test_a_damaged_file_is_moved_with_its_log_and_the_home_begins_without_it(
    name: str, folder: Path, tmp_path: Path, refused: Refused, typed: Typed
) -> None:
    damaged = damage(folder / name)
    advice = re.search(r"move it and any (\S+) file next to it into another folder", refused(LIST))
    assert advice
    aside = tmp_path / "aside"
    aside.mkdir()
    for path in (folder / name, Path(f"{folder / name}{advice[1]}")):
        if path.exists():
            path.rename(aside / path.name)
    typed(LIST)
    assert (aside / name).read_bytes() == damaged


@pytest.mark.parametrize("name", ["warehouse.duckdb", "ledger.sqlite"])
def test_a_backup_is_restored_over_a_home_with_a_damaged_file_which_stays_aside(
    name: str, folder: Path, tmp_path: Path, refused: Refused, typed: Typed
) -> None:
    backup = tmp_path / "backup"
    back_up(folder, backup)
    damaged = damage(folder / name)
    assert "restore a backup (vlm-loom workspace restore)" in refused(LIST)
    assert "Pass --overwrite" in refused("workspace restore", backup)
    typed(f"workspace restore {backup} --overwrite")
    typed(LIST)
    (earlier,) = tmp_path.glob("home.before-*")
    assert (earlier / name).read_bytes() == damaged


def test_a_file_that_is_not_proven_damaged_is_kept(tmp_path, monkeypatch):
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
    folder: Path, tmp_path: Path, refused: Refused, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(sqlite3.connect(folder / "review.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 7")
    said = f"keep {folder} for the version that made it, and set LOOM_WORKSPACE"
    assert said in refused(LIST)
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path / "another"))
    (tmp_path / "another").mkdir()
    typed(LIST)


# --- A home that can only be read ----------------------------------------------------------------

# Root may write everything, unless it gives that up.
AS_USER = (
    ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--securebits", "+noroot"]
    if os.geteuid() == 0
    else []
)
COMMANDS = """
import contextlib, io, json, sys
from dagster_project.cli import main

done = []
for home, line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = main([*line, "--workspace", home])
    done.append((code, out.getvalue()))
print(json.dumps(done))
"""
LEFT_OPEN = f"""
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("UPDATE {TABLE} SET answer = 'in the log'")
os._exit(0)
"""


def may_write(folder: Path, allowed: bool) -> None:
    """Give the rights to write the folder and all that is in it, or take them away."""
    for path in [folder, *folder.rglob("*")]:
        mode = path.stat().st_mode
        path.chmod(mode | 0o200 if allowed else mode & ~0o222)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Homes with tables, a ledger and an account, whose last write is in DuckDB's log only."""
    if AS_USER and shutil.which("setpriv") is None:
        pytest.skip("setpriv, with which root gives up its rights, is not installed")
    root = tmp_path_factory.mktemp("homes")
    home = root / "read"
    home.mkdir()
    Warehouse(home / "warehouse.duckdb").replace(TABLE, answers("a", 3))
    ledger = Ledger(home / "ledger.sqlite")
    ledger.add([call(key="key")])
    ledger.close()
    ReviewStore(home / "review.sqlite").close()
    accounts = Accounts(home / "review.sqlite")
    accounts.add("ann", "annotator")
    accounts.close()
    subprocess.run([sys.executable, "-c", LEFT_OPEN, home / "warehouse.duckdb"], check=True)
    assert (home / "warehouse.duckdb.wal").exists()
    for name in ("clean", "closed", *UNWRITABLE.values()):
        shutil.copytree(home, root / name)
    may_write(home, False)
    for name, unwritable in (("clean", "reports"), ("closed", ".")):
        (root / name / "reports").mkdir()
        (root / name / "reports" / "index.html").touch()
        (root / name / unwritable).chmod(0o500)
    for file, name in UNWRITABLE.items():
        (root / name / file).parent.mkdir(parents=True, exist_ok=True)
        (root / name / file).touch()
        (root / name / file).chmod(0o400)
    yield root
    may_write(root, True)


READING = (
    f"sql SELECT~DISTINCT~answer~FROM~{TABLE}",
    *("release list", "result show", "review account list", "home check-ledger"),
)
WRITING = ("run evaluate", "review account role ann admin", "release pin mmdu")
UNWRITABLE = {"ledger.sqlite": "ledger", "dagster/history/runs.db": "history"}


@pytest.fixture(scope="module")
def done(root: Path) -> dict[str, tuple[int, str]]:
    """Exit code and output of each command on its home, all in one process without root's rights."""
    before = {path: path.stat().st_mtime_ns for path in [root / "read", *root.rglob("read/*")]}
    lines = [
        *((root / "read", line) for line in (*READING, *WRITING)),
        (root / "read", f"review dump --out {root / 'review.zip'}"),
        *((root / name, "workspace clean") for name in ("clean", "closed")),
        *((root / name, "run ledger") for name in UNWRITABLE.values()),
    ]
    words = [
        (str(home), [word.replace("~", " ") for word in line.split(" ")]) for home, line in lines
    ]
    performed = subprocess.run(
        [*AS_USER, sys.executable, "-c", COMMANDS, json.dumps(words)],
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    results = json.loads(performed.stdout)
    assert {path: path.stat().st_mtime_ns for path in before} == before, "nothing is changed"
    assert {*before} == {root / "read", *root.rglob("read/*")}
    return {
        f"{home.name}: {line}": tuple(of) for (home, line), of in zip(lines, results, strict=True)
    }


def test_commands_that_read_answer_and_change_nothing_and_those_that_write_do_not_begin(done):
    read = {line.removeprefix("read: "): of for line, of in done.items() if line[:4] == "read"}
    for line in WRITING:
        code, text = read.pop(line)
        assert code == 2 and "make it a folder that you may write to" in text
    assert len(read) == len(READING) + 1
    assert {line: text for line, (code, text) in read.items() if code} == {}
    shown = " ".join(text for _, text in read.values())
    assert all(text in shown for text in ("in the log", "ann", "is sound"))


def test_what_may_not_be_written_or_removed_is_named_with_what_to_do(done, root):
    code, text = done["clean: workspace clean"]
    reports = root / "clean" / "reports"
    assert f"make {reports} a folder that you may write to, or set LOOM_WORKSPACE" in text
    assert code == 2
    # Only who may change a folder removes what is in it.
    code, text = done["closed: workspace clean"]
    assert code == 2 and "make it a folder that you may write to" in text
    assert (root / "closed" / "reports" / "index.html").exists()
    for name, home in ((name, root / of) for name, of in UNWRITABLE.items()):
        code, text = done[f"{home.name}: run ledger"]
        assert code == 2
        assert [line for line in text.splitlines() if line.startswith("The workspace ")] == [
            f"The workspace {home} cannot be used ([Errno 13] Permission denied: '{home / name}'): "
            f"make {home / name} a file that you may write to, or set LOOM_WORKSPACE to another folder."
        ]
