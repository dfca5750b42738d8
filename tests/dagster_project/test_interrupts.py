"""Signal handlers around runs in process, where SIGINT is ignored as in a shell's background job."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from dagster_project.job_runs import handlers_kept
from resources.home import REPO_ROOT

TERMINATED = """
import multiprocessing, signal, time
import dagster as dg
from dagster_project.job_runs import handlers_kept

@dg.asset
def one():
    return 1

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with handlers_kept():
        assert dg.materialize([one]).success
    child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,))
    child.start()
    child.terminate()
    child.join(30)
    print(child.exitcode)
    child.kill()
"""


@dg.asset
def one() -> int:
    return 1


@pytest.fixture
def ignored() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_dagster_alone_leaves_sigterm_ignored(ignored: None) -> None:
    # When this fails, Dagster restores what it sets, and `handlers_kept` may go.
    assert dg.materialize([one]).success
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN


def test_with_the_handlers_kept_sigterm_is_as_before(ignored: None) -> None:
    with handlers_kept():
        assert dg.materialize([one]).success
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_they_are_kept_when_the_run_raises(ignored: None) -> None:
    with pytest.raises(RuntimeError), handlers_kept():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise RuntimeError
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_child_started_after_a_run_ends_by_sigterm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPO_ROOT))
    script = tmp_path / "terminated.py"
    script.write_text(TERMINATED)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(-signal.SIGTERM), done.stderr
