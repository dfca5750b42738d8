"""`vlm-loom home check-ledger` and `salvage-ledger`: what they say, and what they leave."""

import subprocess
import sys
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from tests.e2e.running import CLI
from tests.resources.llm.damaged_ledgers import HARMS, fill


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ledger of a home."""
    monkeypatch.setenv("LOOM_HOME", str(tmp_path))
    path = tmp_path / "ledger.sqlite"
    fill(path)
    return path


def test_a_sound_ledger_is_counted_and_not_salvaged(path: Path, capsys) -> None:
    before = path.read_bytes()

    assert loom(["home", "check-ledger"]) == 0
    assert loom(["home", "salvage-ledger"]) == 0

    assert capsys.readouterr().out == (
        f"{path} is sound: 102 calls and 18 charges.\n"
        f"{path} is sound: there is nothing to salvage.\n"
    )
    assert path.read_bytes() == before


def test_a_damaged_ledger_is_named_and_salvaged_and_what_was_read_is_counted(
    path: Path, capsys
) -> None:
    HARMS["a page of calls is overwritten"](path)

    assert loom(["home", "check-ledger"]) == 2
    said = capsys.readouterr()
    assert said.out and f"{path} is damaged: `vlm-loom home salvage-ledger`" in said.err
    assert " calls" not in said.err, "SQLite reads fewer than salvaging does"

    assert loom(["home", "salvage-ledger"]) == 0
    first, missing, kept = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{path} is a new ledger of what could be read: ")
    assert missing.startswith("Missing between those that were read: ")
    aside = Path(kept.removeprefix("The damaged file is ").split(":")[0])
    assert aside.exists() and aside.name.startswith("ledger.sqlite.damaged-")

    assert loom(["home", "check-ledger"]) == 0


def test_where_there_is_no_ledger_one_sentence_says_so(path: Path, capsys) -> None:
    path.unlink()

    for command in ("check-ledger", "salvage-ledger"):
        assert loom(["home", command]) == 2
        assert capsys.readouterr().err == (
            f"There is no ledger at {path} that can be read: set LOOM_HOME to your home.\n"
        )


@pytest.mark.parametrize("command", ["check-ledger", "salvage-ledger"])
def test_both_are_refused_while_a_process_uses_the_home(command: str, path: Path) -> None:
    ledger = Ledger(path)
    assert len(ledger) == 102

    done = subprocess.run(
        [sys.executable, "-m", CLI, "home", command],
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
    )
    ledger.close()

    assert done.returncode == 2
    assert f"{path.parent} is in use. Stop what runs on it (process" in done.stderr


@pytest.mark.parametrize("command", ["check-ledger", "salvage-ledger"])
def test_an_empty_ledger_is_not_called_an_old_one(command: str, path: Path, capsys) -> None:
    path.write_bytes(b"")
    assert loom(["home", command]) == 2
    said = capsys.readouterr().err
    assert f"{path} is empty, and was not made so: restore a backup" in said
    assert "salvage" not in said and "0.2.0" not in said
