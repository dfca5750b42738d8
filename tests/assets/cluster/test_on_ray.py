"""Clustering on a Ray cluster of two workers: the same communities, whoever dies on the way."""

import builtins
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import dagster as dg
import numpy as np
import pytest

from assets.cluster.clusters import ray_detector
from assets.common import ray_jobs
from dagster_project.resources import make_resources
from methods.clustering.communities import Community, threshold_communities
from methods.clustering.neighbours import ThresholdError
from resources.ray_clustering.cluster import RayCluster
from resources.ray_clustering.job_folder import JobFolder, open_job_folder
from tests.assets.corpus import Corpus, sample_rows
from tests.assets.local_ray import ON_RAY, LocalRay
from tests.assets.world import Result, Row, sentence
from tests.doubles.serving import free_ports

pytestmark = ON_RAY

TAU, ROWS = 0.75, 300
clusters_module = import_module("assets.cluster.clusters")
ASSETS = ("embeddings", "clusters")


@pytest.fixture(autouse=True)
def small_jobs(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs for a thousand vectors, which would be done here otherwise."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(clusters_module, "MIN_VECTORS_FOR_JOB", 1000)
    monkeypatch.setattr(clusters_module, "ROWS_PER_TASK", ROWS)


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def clumps(n_clumps: int, of_each: int, seed: int = 0) -> np.ndarray:
    """Unit vectors about `n_clumps` directions of 32 dimensions, in random order.

    Two about one direction are at about 1 / (1 + 0.2^2) = 0.96, two about others at less than tau.
    """
    rng = np.random.default_rng(seed)
    vectors = np.repeat(rng.normal(size=(n_clumps, 32)), of_each, axis=0)
    vectors += rng.normal(size=vectors.shape) * 0.2
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return rng.permutation(vectors).astype(np.float32)


def find(
    instance: dg.DagsterInstance, address: str, vectors: np.ndarray
) -> tuple[Result, list[Community]]:
    """A run that looks for the communities of vectors, and what it found."""
    found = []

    @dg.asset
    def communities(
        context: dg.AssetExecutionContext, ray: dg.ResourceParam[RayCluster]
    ) -> dg.MaterializeResult:
        with ray_detector(context, ray, TAU) as finder:
            found.extend(finder(vectors))
        return dg.MaterializeResult()

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOOM_RAY_ADDRESS", address)
        result = dg.materialize(
            [communities],
            instance=instance,
            resources={"ray": make_resources()["ray"]},
            raise_on_error=False,
        )
    return result, found


def lines(instance: dg.DagsterInstance, result: Result) -> list[str]:
    """What the run's log says of blocks."""
    records = instance.all_logs(result.run_id)
    return [record.user_message for record in records if " blocks" in record.user_message]


def interrupted(vectors: np.ndarray, home: Path, n_blocks: int) -> JobFolder:
    """A folder with so many blocks done, by a run that then failed."""
    with (
        pytest.raises(ZeroDivisionError),
        open_job_folder(home / "ray", vectors, TAU, ROWS) as folder,
    ):
        for block in folder.blocks[:n_blocks]:
            folder.run_block(block)
        raise ZeroDivisionError
    return folder


# --- With workers --------------------------------------------------------------------------------


def stop_one_see_another_and_kill(ray: LocalRay, within: float) -> list[int]:
    """Processes that this Ray has at a block: the first one is killed, once there is a second one."""
    deadline = time.monotonic() + within
    workers: list[int] = []
    while time.monotonic() < deadline:
        for worker in at_a_block(ray):
            if not workers:
                os.kill(worker, signal.SIGSTOP)
                if worker in at_a_block(ray):
                    workers = [worker]
                else:
                    os.kill(worker, signal.SIGCONT)
            elif worker != workers[0]:
                os.kill(workers[0], signal.SIGKILL)
                return [*workers, worker]
        time.sleep(0.01)
    return workers


def at_a_block(ray: LocalRay) -> list[int]:
    """Workers of this Ray that have the title which Ray gives them during a block."""
    found = []
    for process in [path for path in Path("/proc").iterdir() if path.name.isdigit()]:
        with suppress(OSError):
            if (process / "cmdline").read_bytes().startswith(b"ray::run_block"):
                parent = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
                if str(ray.folder) in Path("/proc", parent, "cmdline").read_text():
                    found.append(int(process.name))
    return found


def left(home: Path) -> list[Path]:
    """Job folders that are not finished."""
    return [path for path in (home / "ray").iterdir() if path.is_dir()]


class TestWithWorkers:
    """A cluster and its jobs."""

    def test_two_workers_share_the_blocks_and_one_that_is_killed_costs_only_its_own(
        self, instance, ray, loom_home
    ):
        """It is stopped before it dies: so it is at a block for certain, and another works."""
        vectors = clumps(200, 10)
        seen = []
        killer = Thread(target=lambda: seen.extend(stop_one_see_another_and_kill(ray, within=90)))
        killer.start()

        result, found = find(instance, ray.address, vectors)

        killer.join()
        assert len(set(seen)) == 2 and result.success
        assert found == threshold_communities(vectors, TAU)
        # 2,000 vectors in blocks of 300 rows; 200 times the 45 pairs of ten.
        assert lines(instance, result)[-1].startswith("7/7 blocks, 9,000 pairs, ")
        assert left(loom_home) == []

    @pytest.mark.nightly
    def test_a_job_that_fails_says_why_and_the_next_does_what_is_missing(
        self, instance, ray, loom_home
    ):
        """One of seven blocks is done; the second one's place is taken: it cannot be written."""
        vectors = clumps(200, 10, seed=1)
        folder = interrupted(vectors, loom_home, 1)
        in_the_way = folder.path / "blocks" / "300-600.npy"
        in_the_way.mkdir()

        result, _ = find(instance, ray.address, vectors)

        assert sentence(result).startswith(f"The Ray job at {ray.address} did not finish (")
        assert f"Is a directory: '{in_the_way}" in sentence(result)
        assert sentence(result).endswith(
            f"run this again; finished blocks are kept in {folder.path}."
        )
        n_done = sum(path.is_file() for path in (folder.path / "blocks").iterdir())
        in_the_way.rmdir()

        result, found = find(instance, ray.address, vectors)

        assert result.success and found == threshold_communities(vectors, TAU)
        *_, said = lines(instance, result)  # On a busy machine there are lines before it.
        assert said.startswith(f"7/7 blocks ({n_done} of them by an earlier job), 9,000 pairs, ")
        assert 1 <= n_done <= 6 and left(loom_home) == []

    @pytest.mark.nightly
    def test_a_run_that_is_stopped_stops_its_job(self, instance, ray, loom_home, monkeypatch):
        """Dagster's signal comes as soon as the job is sent."""
        from dagster._core.errors import DagsterExecutionInterruptedError
        from ray.job_submission import JobSubmissionClient

        def interrupted(*_arguments) -> None:
            raise DagsterExecutionInterruptedError

        monkeypatch.setattr("dagster_ray.core.pipes._wait_for_job_completion", interrupted)

        result, _ = find(instance, ray.address, clumps(200, 10, seed=2))

        assert not result.success
        client = JobSubmissionClient(ray.address)
        (job,) = [
            job for job in client.list_jobs() if job.metadata.get("dagster/run-id") == result.run_id
        ]
        while not job.status.is_terminal():
            job = client.get_job_info(job.submission_id)
        assert job.status == "STOPPED"
        assert len(left(loom_home)) == 1

    @pytest.mark.nightly
    def test_the_asset_fills_its_table_with_the_same_rows(
        self, ray, make_world, tmp_path, monkeypatch
    ):
        """Five entries are a job; the group of four balloons is done here."""
        monkeypatch.setattr(clusters_module, "MIN_VECTORS_FOR_JOB", 5)
        monkeypatch.setattr(clusters_module, "ROWS_PER_TASK", 1)
        corpus = Corpus(tmp_path / "corpus")
        corpus.write_shard("one", [*sample_rows("balloon")[:4], sample_rows("butterfly")[0]])
        corpus.write_categories()
        world = make_world(tmp_path, corpus)
        world.settings["LOOM_RAY_ADDRESS"] = ray.address
        assert world.ingest("one").success

        def rows(**config: object) -> tuple[Result, list[Row]]:
            with world.environment():
                result = world.definitions.resolve_job_def("cluster").execute_in_process(
                    instance=world.instance,
                    run_config={"ops": {"cluster__clusters": {"config": config}}},
                    asset_selection=[dg.AssetKey(["cluster", name]) for name in ASSETS],
                )
            return result, world.rows("FROM cluster.clusters ORDER BY entry_id")

        result, on_workers = rows(runner="ray")
        _, here = rows(recluster=True)

        *_, said = lines(world.instance, result)
        assert re.match(r"(\d)/\1 blocks, \d pairs, [12] workers$", said)
        assert on_workers == here and {row["group_how"] for row in here} == {"seed", "no neighbour"}
        assert left(world.home) == []


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
        ("", "LOOM_RAY_ADDRESS is not set to the address of a Ray dashboard: set "),
        ("10.0.0.1:6379", "'10.0.0.1:6379' is not the address of a Ray dashboard: set "),
    ],
)
def test_an_address_must_be_there(instance, address, told):
    result, _ = find(instance, address, clumps(2, 2))

    assert sentence(result) == (
        f"{told}LOOM_RAY_ADDRESS to one such as http://127.0.0.1:8265, or set runner to local."
    )


def test_rays_own_variable_goes_before(instance, monkeypatch):
    """Ray's client obeys it whatever it is told, so it is the address that the sentence has."""
    monkeypatch.setenv("RAY_ADDRESS", "ray.example:10001")

    result, _ = find(instance, "http://127.0.0.1:8265", clumps(2, 2))

    assert sentence(result).startswith("'ray.example:10001' is not the address")


def test_nobody_at_the_address(instance):
    address = f"http://127.0.0.1:{free_ports(1)[0]}"

    result, _ = find(instance, address, clumps(200, 10))

    assert sentence(result).startswith(
        f"The Ray job at {address} did not finish (Failed to connect to Ray at address: {address}"
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
        "Ray needs packages that are not installed: "
        'run `pip install "vlm-loom[ray]"`, or set runner to local.'
    )


def test_another_run_at_the_same_vectors(instance, monkeypatch):
    def in_use(*_arguments):
        raise clusters_module.JobFolderInUse("Another run clusters the same vectors in ray/ab.")

    monkeypatch.setattr(clusters_module, "open_job_folder", in_use)
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    assert sentence(result) == (
        "Another run clusters the same vectors in ray/ab. Wait for it, then run this again."
    )


def test_what_the_job_refuses_is_refused_here(instance, monkeypatch):
    """Too many pairs, found out by the job, are the error that they are without Ray."""

    def run(context, submit_job_params, extras):
        JobFolder(Path(extras["folder"])).write_error("More than 2 pairs lie within tau.")

    monkeypatch.setattr(ray_jobs, "_client", lambda _cluster: SimpleNamespace(run=run))
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    (failed,) = [event for event in result.all_events if event.is_step_failure]
    assert ThresholdError.__name__ in failed.step_failure_data.error.cause.cls_name
    assert "More than 2 pairs lie within tau." in failed.step_failure_data.error.cause.message
