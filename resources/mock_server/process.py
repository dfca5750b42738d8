"""Start and stop the mock model server as a child process. POSIX only."""

import atexit
import os
import select
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import IO

from methods.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
_LINE = "mock model server on "
_TAIL = 600
START_SECONDS = 30
"""The most seconds until a server prints its address, which is bound by then."""


class MockServerError(UserError):
    """The mock model server could not be started."""


class MockServerProcess:
    """A mock model server in a child process.

    `start` and `stop` may be called repeatedly and from any thread; `start` returns the base URL of the
    running server. The server stops at interpreter exit, and also if this process is killed.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[bytes] | None = None
        self._base_url = ""

    @property
    def pid(self) -> int | None:
        """The process id of the server; None if it is not running."""
        with self._lock:
            return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> str:
        """Start the server unless it runs, and return its base URL."""
        with self._lock:
            if self.pid is not None:
                return self._base_url
            self.stop()
            try:
                self._spawn()
                self._base_url = self._read_line()
            except BaseException:
                self.stop()
                raise
            atexit.register(self.stop)
            return self._base_url

    def stop(self) -> None:
        """Stop the server if it runs."""
        with self._lock:
            atexit.unregister(self.stop)
            process, self._process = self._process, None
            if process is not None:
                process.terminate()
                try:
                    process.wait(timeout=3.0)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                if process.stdout is not None:
                    process.stdout.close()
            if self._stderr is not None:
                self._stderr.close()
                self._stderr = None

    def _spawn(self) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed by stop
        command = [sys.executable, "-m", "resources.mock_server", "--port", "0"]
        command += ["--parent", str(os.getpid())]
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
        )

    def _read_line(self) -> str:
        """Wait for the line that names the server's address."""
        assert self._process is not None and self._process.stdout is not None
        stdout = self._process.stdout
        ready, _, _ = select.select([stdout], [], [], START_SECONDS)
        line = stdout.readline().strip() if ready else ""
        if not line.startswith(_LINE):
            raise MockServerError(
                f"The mock model server did not print its address within {START_SECONDS} s; "
                f"{self._end_of_stderr()}. On a busy machine, run again when other work has ended."
            )
        return line.removeprefix(_LINE)

    def _end_of_stderr(self) -> str:
        assert self._stderr is not None
        self._stderr.seek(0)
        text = self._stderr.read().decode("utf-8", "replace")
        tail = " ".join(text.split())[-_TAIL:]
        return f"its stderr ends: {tail}" if tail else "its stderr is empty"
