"""A home that its user may not write is read; nothing in it is changed, and what writes is refused."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    for name in ("clean", *UNWRITABLE.values()):
        shutil.copytree(home, root / name)
    may_write(home, False)
    (root / "clean" / "reports").mkdir()
    (root / "clean" / "reports" / "index.html").touch()
    (root / "clean" / "reports").chmod(0o500)
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
        (root / "clean", "workspace clean"),
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


def test_commands_that_read_answer_and_change_nothing(done: dict[str, tuple[int, str]]) -> None:
    read = {line: of for line, of in done.items() if line.startswith("read: ")}
    read = {line: of for line, of in read.items() if line.removeprefix("read: ") not in WRITING}
    assert len(read) == len(READING) + 1
    assert {line: text for line, (code, text) in read.items() if code} == {}
    shown = " ".join(text for _, text in read.values())
    for text in ("in the log", "ann", "is sound"):
        assert text in shown


def test_commands_that_write_are_refused_before_they_begin(
    done: dict[str, tuple[int, str]],
) -> None:
    for line in WRITING:
        code, text = done[f"read: {line}"]
        assert code == 2 and "make it a folder that you may write to" in text


def test_a_folder_whose_files_cannot_be_removed_is_named_with_what_to_do(
    done: dict[str, tuple[int, str]], root: Path
) -> None:
    code, text = done["clean: workspace clean"]
    assert code == 2
    reports = root / "clean" / "reports"
    assert f"make {reports} a folder that you may write to, or set LOOM_WORKSPACE" in text


@pytest.mark.parametrize("name", UNWRITABLE)
def test_a_file_that_may_not_be_written_is_named_with_what_to_do(
    name: str, done: dict[str, tuple[int, str]], root: Path
) -> None:
    home = root / UNWRITABLE[name]
    code, text = done[f"{home.name}: run ledger"]
    assert code == 2
    assert [line for line in text.splitlines() if line.startswith("The workspace ")] == [
        f"The workspace {home} cannot be used ([Errno 13] Permission denied: '{home / name}'): make "
        f"{home / name} a file that you may write to, or set LOOM_WORKSPACE to another folder."
    ]
