"""Files that a process holds: seen by others, gone with the process however it ends."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dagster_project.held_file import AlreadyRunning, hold, hold_new, is_held
from resources.files.home import REPO_ROOT

HOLDER = """
import sys, time
from pathlib import Path
from dagster_project.held_file import hold
held = hold(Path(sys.argv[1]), "process one", "{holder}")
print("held", flush=True)
time.sleep(600)
"""


@contextmanager
def holder(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the file."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, cwd=REPO_ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "held\n"
            yield process
        finally:
            process.kill()


def test_a_second_process_is_refused_with_what_the_first_says_until_the_first_is_killed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.lock"
    with holder(path) as first:
        assert is_held(path) is True
        with pytest.raises(AlreadyRunning, match=r"^There is process one already\.$"):
            hold(path, "process two", "There is {holder} already.")
        assert path.read_text() == "process one"

        first.send_signal(signal.SIGKILL)
        first.wait()
        assert is_held(path) is False
        with hold(path, "process two", ""):
            assert path.read_text() == "process two"


def test_a_file_that_is_not_there_is_neither_held_nor_let_go(tmp_path: Path) -> None:
    assert is_held(tmp_path / "none") is None


def test_a_new_file_is_held_as_soon_as_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    rename = Path.rename

    def watched(self: Path, target: Path) -> Path:
        seen.append((is_held(self), is_held(target)))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watched)
    with hold_new(tmp_path / "running" / "a-run"):
        seen.append((None, is_held(tmp_path / "running" / "a-run")))

    assert seen == [(True, None), (None, True)]
    assert is_held(tmp_path / "running" / "a-run") is False
