"""Clustering on a Ray cluster of two workers: the same communities, whoever dies on the way."""

import builtins
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import dagster as dg
import numpy as np
import pytest

from assets.cluster import on_ray
from assets.cluster.on_ray import ray_finder
from dagster_project.resources import make_resources
from methods.clustering.communities import Community, threshold_communities
from methods.clustering.neighbours import ThresholdError
from resources.ray_clustering.cluster import RayCluster
from resources.ray_clustering.work import Work, work_of
from tests.assets.local_ray import LocalRay, free_ports, local_ray
from tests.assets.world import Result, sentence

pytestmark = [
    pytest.mark.filterwarnings("ignore:Function `PipesMessageReader.expected_writer_count`"),
    pytest.mark.filterwarnings("ignore:AssetExecutionContext:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ssl=None:DeprecationWarning"),
]

TAU, ROWS = 0.75, 300


@pytest.fixture(scope="module")
def ray() -> Iterator[LocalRay]:
    with local_ray() as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def small_jobs(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs for a thousand vectors, which would be done here otherwise."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(on_ray, "VECTORS_WORTH_A_JOB", 1000)
    monkeypatch.setattr(on_ray, "ROWS_A_TASK", ROWS)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def clumps(n_clumps: int, of_each: int, seed: int = 0) -> np.ndarray:
    """Unit vectors about `n_clumps` directions of 32 dimensions, in random order."""
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(n_clumps, 32)), of_each, axis=0)
    vectors += rng.normal(size=vectors.shape) * 0.3
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return rng.permutation(vectors).astype(np.float32)


@pytest.fixture
def find(
    instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, np.ndarray], tuple[Result, list[Community]]]:
    """Looks for the communities of vectors in a run, with the cluster that the environment names."""
    found: list[Community] = []

    @dg.asset
    def communities(
        context: dg.AssetExecutionContext, ray: dg.ResourceParam[RayCluster], config: Vectors
    ) -> dg.MaterializeResult:
        with ray_finder(context, ray, TAU) as finder:
            found[:] = finder(np.load(config.path))
        return dg.MaterializeResult()

    def find(address: str, vectors: np.ndarray) -> tuple[Result, list[Community]]:
        monkeypatch.setenv("LOOM_RAY_ADDRESS", address)


def lines(instance: dg.DagsterInstance, result: Result) -> list[str]:
    """What the run's log says of blocks."""
    records = instance.all_logs(result.run_id)
    return [record.user_message for record in records if " blocks" in record.user_message]


def interrupted(vectors: np.ndarray, home: Path, n_blocks: int) -> Work:
    """A work with so many blocks done, by a run that then failed."""
    with pytest.raises(ZeroDivisionError), work_of(home / "ray", vectors, TAU, ROWS) as work:
        for block in work.blocks[:n_blocks]:
            work.do(block)
        raise ZeroDivisionError
    return work


# --- With workers --------------------------------------------------------------------------------


def test_a_worker_that_is_killed_costs_nothing_but_its_block(instance, ray, loom_home):
    """It is stopped first, so that it is known to be at a block when it dies."""
    vectors = clumps(200, 10)
    killed = []
    killer = Thread(target=lambda: killed.append(kill_a_worker_at_work(ray, within=60)))
    killer.start()

    result, found = find(instance, ray.address, vectors)

    killer.join()
    assert killed[0] is not None and result.success
    assert found == threshold_communities(vectors, TAU)
    # 2,000 vectors in blocks of 300 rows.
    assert lines(instance, result)[-1].startswith("7/7 blocks, 9,000 pairs, ")
    assert left(loom_home) == []


def kill_a_worker_at_work(ray: LocalRay, within: float) -> int | None:
    """Kill a process that Ray has at a block, and say which; None where there is none in time."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        for process in [path for path in Path("/proc").iterdir() if path.name.isdigit()]:
            if at_a_block(process, ray):
                os.kill(int(process.name), signal.SIGSTOP)
                if at_a_block(process, ray):
                    os.kill(int(process.name), signal.SIGKILL)
                    return int(process.name)
                os.kill(int(process.name), signal.SIGCONT)
        time.sleep(0.01)
    return None


def at_a_block(process: Path, ray: LocalRay) -> bool:
    """Whether this has the title that Ray gives a worker during a block, and is a worker of this Ray."""
    try:
        if not (process / "cmdline").read_bytes().startswith(b"ray::do_block"):
            return False
        parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
        return str(ray.folder) in Path("/proc", parent, "cmdline").read_text()
    except OSError:
        return False


def test_a_job_that_fails_says_why_and_the_next_does_what_is_missing(instance, ray, loom_home):
    """Three of seven blocks are done; the last one's place is taken, so that it cannot be written."""
    vectors = clumps(200, 10, seed=1)
    work = interrupted(vectors, loom_home, 3)
    in_the_way = work.folder / "blocks" / "1800-2000.npy"
    in_the_way.mkdir()

    result, _ = find(instance, ray.address, vectors)

    assert sentence(result).startswith(f"The Ray job at {ray.address} came to no end (")
    assert f"Is a directory: '{in_the_way}" in sentence(result)
    assert sentence(result).endswith(f"run this again; what is done stays in {work.folder}.")
    n_done = sum(path.is_file() for path in (work.folder / "blocks").iterdir())
    in_the_way.rmdir()

    result, found = find(instance, ray.address, vectors)

    assert result.success and found == threshold_communities(vectors, TAU)
    assert f"7/7 blocks ({n_done} of them by an earlier job)" in lines(instance, result)[-1]
    assert 3 <= n_done <= 6 and left(loom_home) == []


def test_a_run_that_is_stopped_stops_its_job(instance, ray, loom_home, monkeypatch):
    """Dagster's signal comes as soon as the job is sent."""
    from dagster._core.errors import DagsterExecutionInterruptedError
    from ray.job_submission import JobSubmissionClient

    def interrupted(*_arguments) -> None:
        raise DagsterExecutionInterruptedError

    monkeypatch.setattr("dagster_ray.core.pipes._wait_for_job_completion", interrupted)

    result, _ = find(instance, ray.address, clumps(200, 10, seed=2))

    client = JobSubmissionClient(ray.address)
    (job,) = [
        job for job in client.list_jobs() if job.metadata.get("dagster/run-id") == result.run_id
    ]
    while not job.status.is_terminal():
        job = client.get_job_info(job.submission_id)
    assert not result.success and job.status == "STOPPED"
    assert len(left(loom_home)) == 1


def left(home: Path) -> list[Path]:
    """Folders of work that is not through."""
    return [path for path in (home / "ray").iterdir() if path.is_dir()]


# --- Without -------------------------------------------------------------------------------------


def test_few_vectors_are_not_worth_a_job(instance, loom_home):
    """999 of them, and nobody is at the address."""
    vectors = clumps(100, 10)[:999]

    result, found = find(instance, "http://127.0.0.1:1", vectors)

    assert result.success and found == threshold_communities(vectors, TAU)
    assert not (loom_home / "ray").exists()


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (None, "LOOM_RAY_ADDRESS is not set to the address of a Ray dashboard: set "),
        ("10.0.0.1:6379", "'10.0.0.1:6379' is not the address of a Ray dashboard: set "),
    ],
)
def test_an_address_must_be_there(instance, address, told):
    result, _ = find(instance, address, clumps(2, 2))

    assert sentence(result) == (
        f"{told}LOOM_RAY_ADDRESS to one such as http://127.0.0.1:8265, or set runner to local."
    )


def test_nobody_at_the_address(instance):
    address = f"http://127.0.0.1:{free_ports(1)[0]}"

    result, _ = find(instance, address, clumps(200, 10))

    assert sentence(result).startswith(
        f"The Ray job at {address} came to no end (Failed to connect to Ray at address: {address}"
    )


def test_without_the_extra_one_sentence_says_what_to_install(instance, monkeypatch):
    find_module = builtins.__import__

    def without_ray(name, *arguments):
        if name == "dagster_ray":
            raise ModuleNotFoundError("No module named 'dagster_ray'")
        return find_module(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(2, 2))

    assert sentence(result) == (
        "Clustering on Ray needs packages that are not there: "
        'run `pip install "vlm-loom[ray]"`, or set runner to local.'
    )


def test_another_run_at_the_same_vectors(instance, monkeypatch):
    def in_use(*_arguments):
        raise on_ray.WorkInUse("Another run clusters the same vectors in ray/ab.")

    monkeypatch.setattr(on_ray, "work_of", in_use)
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    assert sentence(result) == (
        "Another run clusters the same vectors in ray/ab. Wait for it, then run this again."
    )


def test_what_the_job_refuses_is_refused_here(instance, monkeypatch):
    """Too many pairs, found out by the job, are the error that they are without Ray."""

    def run(context, submit_job_params, extras):
        Work(Path(extras["folder"])).refuse("More than 2 pairs lie within tau.")

    monkeypatch.setattr(on_ray, "_client", lambda _cluster: SimpleNamespace(run=run))
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    (failed,) = [event for event in result.all_events if event.is_step_failure]
    assert ThresholdError.__name__ in failed.step_failure_data.error.cause.cls_name
    assert "More than 2 pairs lie within tau." in failed.step_failure_data.error.cause.message
