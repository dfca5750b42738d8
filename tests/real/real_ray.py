"""Embedding on a real Ray cluster of two workers, of which one is killed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from threading import Thread

import dagster as dg
import numpy as np
import psutil
import pytest

from assets.cluster import embeddings
from assets.common import ray_jobs
from dagster_project.job_runs import restore_signal_handlers
from resources.embedding.embedder import Embedder
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse
from tests.assets.cluster.embedding import entry, fill
from tests.doubles.serving import free_ports
from tests.real.server import wait_for

RAY = Path(sys.executable).with_name("ray")
OBJECT_STORE = 80_000_000
"""Bytes, about the least that Ray takes; where /dev/shm has fewer, Ray puts them into a file."""
N_CAPTIONS, TEXTS_PER_BLOCK = 79, 8
KILLS_WITHIN = 240.0


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The HTTP address of a cluster, and the folder in which it has its sockets and logs."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    # Sockets stand in it, and their names must be short.
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))
    dashboard, client = free_ports(2)
    options = {"num-cpus": 2, "num-gpus": 0, "object-store-memory": OBJECT_STORE, "port": 0}
    options |= {"dashboard-host": "127.0.0.1", "dashboard-port": dashboard}
    options |= {"dashboard-agent-listen-port": 0, "ray-client-server-port": client}
    words = [f"--{name}={value}" for name, value in options.items()]
    process = subprocess.Popen(
        [
            RAY,
            "start",
            "--head",
            "--block",
            "--disable-usage-stats",
            f"--temp-dir={folder}",
            *words,
        ],
        cwd=folder,
        env={"HOME": str(folder), "PATH": f"{RAY.parent}:{os.defpath}"},
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{dashboard}"
        wait_for(f"{address}/api/version", process)
        yield address, folder
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def one_worker_dies(folder: Path, is_stored: Callable[[], bool]) -> Iterator[list[int]]:
    """Kill one of two workers while the context lasts; gives the processes that were killed.

    It is stopped at a block of rows, which it so holds, and killed once something of the other one is
    stored.
    """
    killed: list[int] = []

    def kill_one() -> None:
        deadline = time.monotonic() + KILLS_WITHIN
        while not killed and time.monotonic() < deadline:
            workers = workers_of(folder)
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


def workers_of(folder: Path) -> list[psutil.Process]:
    """Processes of this Ray's actors that are at a block of rows, by the title that Ray gives them."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            title = " ".join(process.cmdline())
            if title.startswith("ray::MapWorker") and ".submit" in title:
                parent = process.parent()
                if parent and str(folder) in " ".join(parent.cmdline()):
                    found.append(process)
    return found


def embed(path: Path, address: str | None, runner: str) -> dict[tuple[str, str], np.ndarray]:
    """The vectors of as many captions and the title that all entries have, by model and text."""
    warehouse = Warehouse(path)
    captions = (
        f"The lighthouse number {i} stands on rock {i * i % 97}." for i in range(N_CAPTIONS)
    )
    fill(warehouse, *(entry(f"e{i}", [], caption) for i, caption in enumerate(captions)))
    with restore_signal_handlers(), dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(
            [embeddings],
            instance=instance,
            resources={"warehouse": warehouse, "embedder": Embedder(), "ray": RayCluster(address)},
            run_config={"ops": {"cluster__embeddings": {"config": {"runner": runner}}}},
        )
        said = [record.user_message for record in instance.all_logs(result.run_id)]
    # Blocks of 8; each is done once.
    assert runner == "local" or any(line.startswith("10/10 blocks, 80 rows, ") for line in said)
    rows = warehouse.sql("SELECT * FROM cluster.embeddings").to_pylist()
    return {(row["model"], row["text"]): np.array(row["vector"]) for row in rows}


def test_a_killed_worker_costs_its_block_and_vectors_are_those_of_one_process(
    ray: tuple[str, Path], loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ray_jobs, "MIN_ROWS_FOR_JOB", 10)
    module = import_module("assets.cluster.embeddings")
    monkeypatch.setattr(module, "TEXTS_PER_BLOCK", TEXTS_PER_BLOCK)
    address, folder = ray
    path = loom_home / "warehouse.duckdb"

    with one_worker_dies(folder, lambda: Warehouse(path).count("cluster.embeddings") > 0) as killed:
        on_workers = embed(path, address, "ray")

    assert len(killed) == 1
    local = embed(tmp_path / "here.duckdb", None, "local")
    assert on_workers.keys() == local.keys() and len(local) == N_CAPTIONS + 1
    assert min(float(local[key] @ on_workers[key]) for key in local) > 1 - 1e-6
