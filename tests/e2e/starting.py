"""Commands started in the background on a home: what they print, and that none outlives its test."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT
from tests.e2e.running import CLI, environment

PATIENCE = 900.0
"""Seconds after which a test gives up waiting: what it waits for takes a fraction of that."""


@dataclass
class Started:
    """A command in the background; what it prints is in `log`."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def printed(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(
        self, what: Callable[[], Any], seconds: float = PATIENCE, *, running: bool = True
    ) -> Any:
        """What `what` returns as soon as that is anything; the command must go on until then."""
        deadline = time.monotonic() + seconds
        while not (found := what()):
            assert not running or self.process.poll() is None, self.printed[-3000:]
            assert time.monotonic() < deadline, self.printed[-3000:]
            time.sleep(0.5)
        return found


@contextmanager
def started(
    name: str, home: Path, log: Path, root: Path = REPO_ROOT, **settings: str
) -> Iterator[Started]:
    """`vlm-loom` with one command, which is stopped at the end of the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", CLI, name],
            cwd=root,
            env=environment(home, PYTHONPATH=str(root), **settings),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Started(process, log)
    finally:
        process.terminate()
        try:
            process.wait(timeout=300)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def processes_of(home: Path) -> list[int]:
    """The processes that were started with this home, by their numbers."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        # It may end while it is looked at; the environment of one that has ended cannot be read.
        with suppress(OSError):
            if f"LOOM_WORKSPACE={home}\0".encode() in (each / "environ").read_bytes():
                found.append(int(each.name))
    return found


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
