"""Ctrl+C ends a run at once, with all workers and whatever their tests began.

What belongs here: the mark that every process of a run inherits, and the end of them all. A test may
hold an interrupt back, as a Dagster run does, and a server that a test began in a session of its own
gets none.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

MARK = "VLM_LOOM_TEST_RUN"


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        os.environ[MARK] = str(os.getpid())


@pytest.hookimpl(tryfirst=True)
def pytest_keyboard_interrupt() -> None:
    """Kill every process of this run but this one."""
    while found := [pid for pid in processes(os.environ[MARK]) if pid != os.getpid()]:
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        _collect(found)


def processes(run: str) -> Iterator[int]:
    """The living processes that inherited a run's mark."""
    for each in Path("/proc").glob("[0-9]*"):
        # It may end while it is looked at; the environment of one that has ended is empty.
        with suppress(OSError):
            if f"{MARK}={run}\0".encode() in (each / "environ").read_bytes():
                yield int(each.name)


def _collect(ended: list[int]) -> None:
    """Wait for those that are children of this process, so that none is left as a zombie."""
    for pid in ended:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
