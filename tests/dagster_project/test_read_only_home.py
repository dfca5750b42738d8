"""A home that its user may not write is read; nothing in it is changed, and what writes is refused."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.files import home
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from resources.review.accounts import Accounts
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse
from tests.resources.llm.test_ledger import call
from tests.resources.test_warehouse import TABLE, answers

# Root may write everything, unless it gives that up.
AS_USER = (
    ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--securebits", "+noroot"]
    if os.geteuid() == 0
    else []
)
COMMANDS = """
import contextlib, io, json, sys
from dagster_project.cli import main

done = {}
for line in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        code = main(line)
    done[" ".join(line)] = code, out.getvalue()
print(json.dumps(done))
"""
LEFT_OPEN = f"""
import os, sys, duckdb
connection = duckdb.connect(sys.argv[1])
connection.execute("UPDATE {TABLE} SET answer = 'in the log'")
os._exit(0)
"""


@pytest.fixture
def read_only(loom_home: Path) -> Iterator[Path]:
    """A home with tables, a ledger and an account, whose last write is in DuckDB's log only."""
    if AS_USER and shutil.which("setpriv") is None:
        pytest.skip("setpriv, with which root gives up its rights, is not installed")
    Warehouse(home.warehouse_path()).replace(TABLE, answers("a", 3))
    ledger = Ledger(home.ledger_path())
    ledger.add([call(key="key")])
    ledger.close()
    ReviewStore(home.review_path()).close()
    accounts = Accounts(home.review_path())
    accounts.add("ann", "annotator")
    accounts.close()
    subprocess.run([sys.executable, "-c", LEFT_OPEN, home.warehouse_path()], check=True)
    assert Path(f"{home.warehouse_path()}.wal").exists()
    paths = [loom_home, *loom_home.rglob("*")]
    for path in paths:
        path.chmod(path.stat().st_mode & ~0o222)
    yield loom_home
    for path in filter(Path.exists, paths):
        path.chmod(path.stat().st_mode | 0o200)


def performed(*lines: list[str]) -> dict[str, Any]:
    """Exit code and output of each command line."""
    done = subprocess.run(
        [*AS_USER, sys.executable, "-c", COMMANDS, json.dumps(lines)],
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def test_commands_that_read_answer_and_change_nothing(read_only: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in [read_only, *read_only.rglob("*")]}
    done = performed(
        ["sql", f"SELECT DISTINCT answer FROM {TABLE}"],
        ["release", "list"],
        ["result", "show"],
        ["review", "account", "list"],
        ["review", "dump", "--out", str(tmp_path / "review.zip")],
        ["home", "check-ledger"],
    )
    assert {line: text for line, (code, text) in done.items() if code} == {}
    shown = " ".join(text for _, text in done.values())
    for text in ("in the log", "ann", "is sound"):
        assert text in shown
    assert {path: path.stat().st_mtime_ns for path in [read_only, *read_only.rglob("*")]} == before


def test_commands_that_write_are_refused_before_they_begin(read_only: Path) -> None:
    done = performed(
        ["run", "evaluate"],
        ["review", "account", "role", "ann", "admin"],
        ["release", "pin", "mmdu"],
    )
    for code, text in done.values():
        assert code == 2 and "make it a folder that you may write to" in text


def test_a_folder_whose_files_cannot_be_removed_is_named_with_what_to_do(read_only: Path) -> None:
    read_only.chmod(0o700)
    reports = read_only / "reports"
    reports.mkdir()
    (reports / "index.html").touch()
    reports.chmod(0o500)

    code, text = performed(["workspace", "clean"])["workspace clean"]

    reports.chmod(0o700)
    assert code == 2
    assert f"make {reports} a folder that you may write to, or set LOOM_WORKSPACE" in text


@pytest.mark.parametrize("name", ["ledger.sqlite", "dagster/history/runs.db"])
def test_a_file_that_may_not_be_written_is_named_with_what_to_do(
    name: str, read_only: Path
) -> None:
    for path in [read_only, *read_only.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    file = read_only / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    file.chmod(0o400)

    (code, text) = performed(["run", "ledger"])["run ledger"]

    assert code == 2
    assert [line for line in text.splitlines() if line.startswith("The workspace ")] == [
        f"The workspace {read_only} cannot be used ([Errno 13] Permission denied: '{file}'): make "
        f"{file} a file that you may write to, or set LOOM_WORKSPACE to another folder."
    ]
