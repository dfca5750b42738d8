"""The main job, run once as a user runs it; tests that change its home work on a copy."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from resources.home import REPO_ROOT
from tests.e2e.running import Run, demo, environment
from tests.shared import once_for_all_workers


@pytest.fixture(scope="session")
def main_job(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The main job on the embedded defaults, from an empty home."""

    def build(root: Path) -> None:
        done = demo(root / "home")
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        (root / "printed.txt").write_text(done.stdout)

    built = once_for_all_workers(tmp_path_factory, "main", build)
    return Run(built / "home", (built / "printed.txt").read_text())


@pytest.fixture
def copied(main_job: Run, tmp_path: Path) -> Run:
    """A copy of the main job's home that a test may change."""
    shutil.copytree(main_job.home, tmp_path / "home")
    return Run(tmp_path / "home", main_job.output)


@pytest.fixture(scope="module")
def ui(main_job: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, str]]:
    """The UI, its daemon and the code location on a copy of the main job's home; (run, address)."""
    copied = Run(tmp_path_factory.mktemp("ui") / "home", main_job.output)
    shutil.copytree(main_job.home, copied.home)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    log = (copied.home / "ui.log").open("w")
    process = subprocess.Popen(
        [sys.executable, "-m", "dagster_project.ui"],
        cwd=REPO_ROOT,
        env=environment(copied.home, PORT=str(port)),
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        _wait_for(address, process, copied.home / "ui.log")
        yield copied, address
    finally:
        process.terminate()
        try:
            process.wait(timeout=60)
        finally:
            # Whatever did not go by itself must not outlive the test.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            log.close()


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        assert process.poll() is None, f"the UI ended: {log.read_text()[-2000:]}"
        try:
            if httpx.get(f"{address}/server_info", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.5)
    pytest.fail(f"the UI did not answer: {log.read_text()[-2000:]}")
