"""What the benches of evaluation share: numbers from texts, stages by time and memory, processes."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from resources.files.home import REPO_ROOT

Row = dict[str, Any]


def chance(*of: str) -> float:
    """A number from 0 to 1 that follows from texts."""
    return int(hashlib.sha256("\n".join(of).encode()).hexdigest()[:8], 16) / 2**32


def peak_mib() -> int:
    """The most memory that this process has had, or since the last stage began."""
    # Not getrusage, which nothing sets back.
    status = Path("/proc/self/status").read_text()
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024)


@contextmanager
def stage(stages: dict[str, Row], name: str) -> Iterator[None]:
    """Adds to `stages` what the block took, and the most memory that the process had meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")
    wall, cpu = time.monotonic(), time.process_time()
    yield
    stages[name] = {
        "wall_s": round(time.monotonic() - wall, 2),
        "cpu_s": round(time.process_time() - cpu, 2),
        "peak_mib": peak_mib(),
    }


@contextmanager
def served(module: str) -> Iterator[str]:
    """The base URL of the stand-in that `module serve` is, in a process of its own."""
    command = [sys.executable, "-m", module, "serve"]
    with subprocess.Popen(
        command, cwd=REPO_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


def in_a_fresh_home(module: str, *arguments: str) -> Row:
    """The figures that `module arguments` prints last, from a process and a home of its own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "LOOM_WORKSPACE": f"{folder}/home",
            "LOOM_MODELS": f"{folder}/models.yaml",
        }
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=REPO_ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    figures: Row = json.loads(done.stdout.splitlines()[-1])
    return figures
