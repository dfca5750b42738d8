"""A Ray cluster of its own for a test module: one node, two workers, gone with who started it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import httpx2
import psutil
import pytest

from tests.doubles.serving import free_ports

STARTS_WITHIN, STOPS_WITHIN, KILLS_WITHIN = 90.0, 60.0, 240.0
OBJECT_STORE = 80_000_000
"""Bytes, about the least that Ray takes; where /dev/shm has fewer, Ray puts them into a file."""
RAY = Path(sys.executable).with_name("ray")
UNTIL_NOBODY_LISTENS = '"$@" < /dev/null & read -r; kill -KILL 0'
"""Ends the cluster when this process closes the pipe, or is no more; at once, as `ray` waits half
a minute for actors."""
ON_RAY = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Function `PipesMessageReader.expected_writer_count`"),
    pytest.mark.filterwarnings("ignore:AssetExecutionContext:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ssl=None:DeprecationWarning"),
]
"""The marks of a module whose tests submit jobs; the warnings are of dagster-ray's code."""


class LocalRay(NamedTuple):
    """HTTP address of the cluster's dashboard; the folder in which it has its sockets and logs."""

    address: str
    folder: Path


@contextmanager
def local_ray() -> Iterator[LocalRay]:
    """A cluster. Nothing of the project is where it starts."""
    with ExitStack() as stack:
        # Sockets stand in it, and their names must be short.
        folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        dashboard, client = free_ports(2)
        command = [
            *(str(RAY), "start", "--head", "--block", "--disable-usage-stats"),
            *("--num-cpus=2", "--num-gpus=0", f"--object-store-memory={OBJECT_STORE}"),
            *("--include-dashboard=true", "--dashboard-host=127.0.0.1"),
            *(f"--dashboard-port={dashboard}", f"--ray-client-server-port={client}"),
            *("--port=0", "--dashboard-agent-listen-port=0", f"--temp-dir={folder}"),
        ]
        log = stack.enter_context((folder / "start.log").open("w+"))
        process = subprocess.Popen(
            ["bash", "-c", UNTIL_NOBODY_LISTENS, "ray", *command],
            cwd=folder,
            env={"HOME": str(folder), "PATH": f"{RAY.parent}:{os.defpath}"},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        stack.callback(process.wait, STOPS_WITHIN)
        stack.callback(process.stdin.close)
        address = f"http://127.0.0.1:{dashboard}"
        deadline = time.monotonic() + STARTS_WITHIN
        while not answers(f"{address}/api/version"):
            log.seek(0)
            assert process.poll() is None and time.monotonic() < deadline, log.read()
            time.sleep(0.1)
        yield LocalRay(address, folder)


def answers(url: str) -> bool:
    """Whether somebody does."""
    with suppress(httpx2.HTTPError):
        return httpx2.get(url, timeout=5, trust_env=False).status_code == 200
    return False


@contextmanager
def one_worker_dies(ray: LocalRay, is_stored: Callable[[], bool]) -> Iterator[list[int]]:
    """Kill one of two workers while the context lasts; gives the processes that were killed.

    It is stopped at a block of rows, which it so holds, and killed once something of the other one is
    stored.
    """
    killed: list[int] = []

    def kill_one() -> None:
        deadline = time.monotonic() + KILLS_WITHIN
        while not killed and time.monotonic() < deadline:
            workers = workers_of(ray)
            if len(workers) == 2:
                workers[0].suspend()
                while not is_stored() and time.monotonic() < deadline:
                    time.sleep(0.2)
                workers[0].kill()
                killed.append(workers[0].pid)
            time.sleep(0.05)

    killer = Thread(target=kill_one)
    killer.start()
    try:
        yield killed
    finally:
        killer.join()


def workers_of(ray: LocalRay) -> list[psutil.Process]:
    """Processes of this Ray's actors that are at a block of rows, by the title that Ray gives them."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            title = " ".join(process.cmdline())
            if title.startswith("ray::MapWorker") and ".submit" in title:
                parent = process.parent()
                if parent and str(ray.folder) in " ".join(parent.cmdline()):
                    found.append(process)
    return found
