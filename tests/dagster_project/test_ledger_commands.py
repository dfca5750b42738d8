"""`vlm-loom workspace check-ledger`: what it says, and that it changes nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from resources.files.home import REPO_ROOT
from resources.llm.ledger import Ledger
from tests.e2e.running import CLI
from tests.resources.llm.damaged_ledgers import HARMS, fill
from tests.resources.llm.test_ledger import call
from tests.shared import PROCESSES


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The ledger of a home."""
    monkeypatch.setenv("LOOM_WORKSPACE", str(tmp_path))
    path = tmp_path / "ledger.sqlite"
    fill(path)
    return path


def test_a_sound_ledger_is_counted(path: Path, capsys) -> None:
    before = path.read_bytes()

    assert loom(["workspace", "check-ledger"]) == 0

    assert capsys.readouterr().out == f"{path} is sound: 102 calls and 18 charges.\n"
    assert path.read_bytes() == before


def test_a_damaged_ledger_is_named_and_the_backup_is_advised(path: Path, capsys) -> None:
    HARMS["a page of calls is overwritten"](path)

    assert loom(["workspace", "check-ledger"]) == 2
    said = capsys.readouterr()
    assert (
        said.out
        and f"{path} is damaged: put a backup back (`vlm-loom workspace restore`)" in said.err
    )


def test_a_log_that_is_gone_is_named_each_time_it_is_asked(path: Path, capsys) -> None:
    process = PROCESSES.Process(target=_answered_and_killed, args=(path,))
    process.start()
    process.join()
    path.with_name("ledger.sqlite-wal").unlink()
    for _ in range(2):
        assert loom(["workspace", "check-ledger"]) == 2
        assert "bytes of its log (-wal) are missing" in capsys.readouterr().out


def _answered_and_killed(path: Path) -> None:
    Ledger(path).add([call(7)])
    os.kill(os.getpid(), signal.SIGKILL)


def test_it_is_refused_while_a_process_uses_the_home(path: Path) -> None:
    ledger = Ledger(path)
    assert len(ledger) == 102

    done = subprocess.run(
        [sys.executable, "-m", CLI, "home", "check-ledger"],
        cwd=REPO_ROOT,
        capture_output=True,
        text=True,
    )
    ledger.close()

    assert done.returncode == 2
    assert f"{path.parent} is in use. Stop what runs on it (process" in done.stderr
