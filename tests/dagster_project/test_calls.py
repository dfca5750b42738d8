"""`vlm-loom calls`: the page by itself, its port, its end, and a home that is none."""

import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from resources.files.home import REPO_ROOT
from resources.web.addresses import CALLS
from tests.dagster_project.conftest import Commanded
from tests.e2e.running import CLI, environment
from tests.resources.calls_page.ledgers import call, keep

pytestmark = pytest.mark.slow


@pytest.fixture
def port() -> int:
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_it_serves_until_ctrl_c(tmp_path: Path, port: int) -> None:
    (tmp_path / "home").mkdir()
    keep(tmp_path / "home", call(1, "A red ground."))
    process = subprocess.Popen(
        [sys.executable, "-m", CLI, "calls"],
        cwd=REPO_ROOT,
        env=environment(tmp_path / "home", PORT=str(port)),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Workspace: {tmp_path / 'home'}\n"
        said = process.stdout.readline()
        assert said == f"Model calls on http://127.0.0.1:{port}{CALLS} (Ctrl-C stops it)\n"
        answer = None
        while answer is None:
            try:
                answer = httpx2.get(f"http://127.0.0.1:{port}/", follow_redirects=True, timeout=60)
            except httpx2.ConnectError:
                assert process.poll() is None
                time.sleep(0.05)
        assert "A red ground." in answer.text
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        assert "Traceback" not in rest
    finally:
        process.kill()
        process.wait()


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path, commanded: Commanded) -> None:
    (tmp_path / "home").mkdir()
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        ended = commanded(tmp_path / "home", "calls", PORT=str(number))
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"The port {number} of 127.0.0.1 cannot be used (")
    assert ended.stderr.endswith("choose another with --port.\n")
    assert not list((tmp_path / "home").iterdir())
