"""Ctrl+C in the middle of a run: it ends within seconds, and no process of it goes on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugins.interrupts import processes

STUBBORN = """
import subprocess, sys, time
import pytest

SERVER = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"

@pytest.mark.parametrize("case", range(4))
def test_holds_back_interrupts(case, tmp_path):
    subprocess.Popen([sys.executable, "-c", SERVER], start_new_session=True)
    print("begun", flush=True)
    while True:
        try:
            open(f"begun-{case}", "w").close()
            time.sleep(600)
        except KeyboardInterrupt:
            pass
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tests.plugins.interrupts"]\n')
    (tmp_path / "test_stubborn.py").write_text(STUBBORN)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A run with two workers, each of which is at work on a test that no interrupt ends."""
    path = os.pathsep.join((str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")))
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Whoever began the suite in the background has interrupts ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    yield process
    process.kill()
    for pid in processes(str(process.pid)):
        os.kill(pid, signal.SIGKILL)
    process.wait()


def test_a_run_that_is_interrupted_ends_with_all_that_it_began(
    run: subprocess.Popen[str], folder: Path
) -> None:
    while len(list(folder.glob("begun-*"))) < 2:
        assert run.poll() is None, run.stdout and run.stdout.read()
        time.sleep(0.05)
    # Its two workers, and a server of each.
    assert len(list(processes(str(run.pid)))) >= 4

    run.send_signal(signal.SIGINT)
    printed, _ = run.communicate()

    assert run.returncode == pytest.ExitCode.INTERRUPTED
    assert "KeyboardInterrupt" in printed
    assert list(processes(str(run.pid))) == []
