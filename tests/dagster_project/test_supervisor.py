"""A supervised command: signals, exit codes, and what it leaves behind, with real processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dagster_project.held_file import is_held
from dagster_project.supervisor import descendants
from resources.files.home import REPO_ROOT

SUPERVISOR = """
import sys
from pathlib import Path
from dagster_project import supervisor
from dagster_project.held_file import hold

folder = Path(sys.argv[1])
supervisor.PATIENCE = 1.0
with hold(folder / "lock", "", "") as held:
    code = supervisor.supervise([sys.executable, "-c", sys.argv[2]], folder, held)
sys.exit(code)
"""
CHILD = """
import os, signal, subprocess, sys, time
from pathlib import Path

def orphan(name, program):
    # Its parent ends at once, and it is of another session: nobody but the kernel knows whose it is.
    again = f"subprocess.Popen([sys.executable, '-c', {program!r}], start_new_session=True)"
    middle = f"import subprocess, sys; {again}"
    subprocess.run([sys.executable, "-c", middle])
    while not Path(name).exists():
        time.sleep(0.01)

write = "import os, signal, time; from pathlib import Path; "
orphan("plain", write + "Path('plain').write_text(str(os.getpid())); time.sleep(600)")
deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN); "
orphan("deaf", write + deaf + "Path('deaf').write_text(str(os.getpid())); time.sleep(600)")
signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
Path("child").write_text(str(os.getpid()))
try:
    time.sleep(600)
except KeyboardInterrupt:
    Path("told").write_text("to stop")
sys.exit(int(os.environ.get("CODE", "0")))
"""


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A supervisor in the background, as a shell starts it, whose child has begun."""
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process = start(tmp_path, CHILD, CODE="7")
    signal.signal(signal.SIGINT, ignored)
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
        assert process.poll() is None
        time.sleep(0.01)
    yield process
    for name in ("child", "plain", "deaf"):
        if exists(number(tmp_path, name)):
            os.kill(number(tmp_path, name), signal.SIGKILL)
    process.kill()
    process.wait()


def start(folder: Path, child: str, **settings: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SUPERVISOR, str(folder), child]
    return subprocess.Popen(command, cwd=REPO_ROOT, env={**os.environ, **settings})


def number(folder: Path, name: str) -> int:
    return int((folder / name).read_text())


def exists(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until_gone(process: int) -> None:
    while exists(process):
        time.sleep(0.01)


@pytest.mark.parametrize("number_of_signal", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_the_child_and_everything_below_it(
    number_of_signal: signal.Signals, supervised: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    supervised.send_signal(number_of_signal)

    assert supervised.wait() == 7
    assert (tmp_path / "told").read_text() == "to stop"
    assert not any(exists(number(tmp_path, name)) for name in ("child", "plain", "deaf"))
    assert is_held(tmp_path / "lock") is False


def test_the_child_is_told_to_stop_when_the_supervisor_is_killed_and_holds_the_file_until_then(
    supervised: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    child = number(tmp_path, "child")
    os.kill(child, signal.SIGSTOP)
    supervised.kill()
    supervised.wait()
    assert is_held(tmp_path / "lock") is True

    os.kill(child, signal.SIGCONT)
    wait_until_gone(child)
    assert (tmp_path / "told").read_text() == "to stop"
    assert is_held(tmp_path / "lock") is False


@pytest.mark.parametrize(
    ("child", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("import os; os.kill(os.getpid(), 9)", 128 + 9),
        # A child that was not told to end has not done what it was started for.
        ("pass", 1),
    ],
)
def test_the_exit_code_is_the_childs(child: str, code: int, tmp_path: Path) -> None:
    assert start(tmp_path, child).wait() == code


def test_a_second_signal_kills_a_child_that_does_not_stop(tmp_path: Path) -> None:
    deaf = (
        "import signal, time; from pathlib import Path\n"
        "signal.signal(signal.SIGINT, lambda *_: Path('told').touch())\n"
        "Path('child').touch()\n"
        "while True: time.sleep(600)"
    )
    process = start(tmp_path, deaf)
    for name in ("child", "told"):
        while not (tmp_path / name).exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()

    assert process.wait() == 128 + 9


def test_processes_that_end_while_they_are_listed_are_no_failure() -> None:
    others, enough = descendants(os.getpid()), threading.Event()

    def begin_and_end_some() -> None:
        while not enough.is_set():
            subprocess.run(["/bin/sh", "-c", "(true; true) & (true) & wait"], check=True)

    busy = [threading.Thread(target=begin_and_end_some) for _ in range(4)]
    for thread in busy:
        thread.start()
    seen: set[int] = set()
    try:
        while len(seen) < 300:
            seen |= descendants(os.getpid())
    finally:
        enough.set()
        for thread in busy:
            thread.join()
    assert not descendants(os.getpid()) & (seen - others)
