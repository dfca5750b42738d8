"""Work on a Ray cluster: who is not there, what is done here, and the end of a job."""

import builtins
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock

from assets.cluster.clusters import ray_detector
from assets.common import ray_jobs
from assets.common.failures import plain_errors
from assets.common.ray_jobs import RowsOnRay, RowWork
from dagster_project.resources import make_resources
from methods.clustering.communities import Community
from methods.clustering.neighbours import ThresholdError
from methods.ids import content_id
from resources.embedding.embedder import PACKAGED
from resources.ray_rows.cluster import RayCluster
from resources.ray_rows.folder import RowFolder
from resources.ray_rows.neighbour_pairs import find_on_worker
from tests.assets.world import Result, sentence
from tests.doubles.serving import free_ports
from tests.resources.test_ray_rows import TAU, clumps

pytestmark = [
    pytest.mark.slow,
    # Of dagster-ray's code.
    pytest.mark.filterwarnings("ignore:Function `PipesMessageReader.expected_writer_count`"),
    pytest.mark.filterwarnings("ignore:AssetExecutionContext:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ssl=None:DeprecationWarning"),
]

clusters_module = import_module("assets.cluster.clusters")
EMBEDDING = RowWork(
    "resources.embedding.embedder:embed_on_worker",
    {"model": PACKAGED, "backend": "torch", "device": "cpu"},
    8,
)


@pytest.fixture(autouse=True)
def small_jobs(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs for ten rows and a thousand vectors, which would be done here otherwise."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_jobs, "MIN_ROWS_FOR_JOB", 10)
    monkeypatch.setattr(clusters_module, "MIN_VECTORS_FOR_JOB", 1000)
    monkeypatch.setattr(clusters_module, "ROWS_PER_BLOCK", 300)


def on_ray(
    instance: dg.DagsterInstance, address: str, act: Callable[[RowsOnRay], Any]
) -> tuple[Result, list[Any]]:
    given = []

    @dg.asset
    def by_row(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
        with plain_errors():
            given.append(act(RowsOnRay(context, RayCluster(address))))
        return dg.MaterializeResult()

    result = dg.materialize([by_row], instance=instance, raise_on_error=False)
    return result, given


def texts(n: int) -> list[str]:
    return [f"The lighthouse number {i} stands on rock {i * i % 97}." for i in range(n)]


def test_nobody_at_the_address(instance, loom_home):
    """What is to do stays, and few rows need nobody."""
    address = f"http://127.0.0.1:{free_ports(1)[0]}"
    rows = pa.table({"text_id": [str(i) for i in range(10)], "text": texts(10)})

    result, _ = on_ray(instance, address, lambda on_ray: on_ray.run(EMBEDDING, rows, print))

    assert sentence(result).startswith(
        f"The Ray job at {address} did not finish (Failed to connect to Ray at address: {address}"
    )
    assert f"finished blocks are kept in {loom_home / 'ray' / 'rows-'}" in sentence(result)

    few = rows.slice(0, 9)
    result, (left,) = on_ray(instance, address, lambda on_ray: on_ray.run(EMBEDDING, few, print))
    assert result.success and left == few
    assert list((loom_home / "ray").glob("rows-*/")) == []


def test_two_runs_at_once(instance, loom_home):
    rows = pa.table({"text_id": [str(i) for i in range(10)], "text": texts(10)})
    name = content_id(EMBEDDING.make, EMBEDDING.arguments)
    folder = loom_home / "ray" / f"rows-{name}"
    folder.parent.mkdir(parents=True)
    with FileLock(f"{folder}.lock"):
        result, _ = on_ray(
            instance, "http://127.0.0.1:1", lambda on_ray: on_ray.run(EMBEDDING, rows, print)
        )

    assert sentence(result) == (
        f"Another run works on the same rows in {folder}. Wait for it, then run this again."
    )


def find(
    instance: dg.DagsterInstance, address: str, vectors: np.ndarray
) -> tuple[Result, list[Community]]:
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


@pytest.mark.parametrize(
    ("address", "own", "told"),
    [
        ("", None, "LOOM_RAY_ADDRESS is not set to the address of a Ray dashboard: set "),
        ("10.0.0.1:6379", None, "'10.0.0.1:6379' is not the address of a Ray dashboard: set "),
        # Ray's client obeys its own variable whatever it is told, so it is the address to name.
        ("http://127.0.0.1:8265", "ray.example:10001", "'ray.example:10001' is not the address"),
    ],
)
def test_an_address_must_be_there(instance, monkeypatch, address, own, told):
    if own:
        monkeypatch.setenv("RAY_ADDRESS", own)
    assert sentence(find(instance, address, clumps(2, 2))[0]).startswith(told)


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


def test_too_many_pairs_end_the_job(instance, monkeypatch):
    """The pairs of the first block are too many: the blocks that are left to do are removed."""
    blocks_left = []

    def run(context, submit_job_params, extras):
        folder = RowFolder(Path(extras["folder"]))
        block, *later = folder.todo()
        folder.run(block, find_on_worker(**extras["arguments"]))
        deadline = time.monotonic() + 30
        while folder.todo() and time.monotonic() < deadline:
            time.sleep(0.05)
        blocks_left.extend([len(later), len(folder.todo())])

    monkeypatch.setattr(ray_jobs, "_client", lambda _cluster: SimpleNamespace(run=run))
    monkeypatch.setattr("methods.clustering.neighbours.MAX_PAIRS", 2)
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    (failed,) = [event for event in result.all_events if event.is_step_failure]
    assert ThresholdError.__name__ in failed.step_failure_data.error.cause.cls_name
    assert "More than 2 pairs lie within tau" in failed.step_failure_data.error.cause.message
    assert blocks_left == [6, 0]


def test_a_job_that_gives_no_rows_is_said_and_so_is_the_last_reason_in_words(instance, monkeypatch):
    def run(**_: object) -> None:
        time.sleep(1.5)
        raise RuntimeError("The node is lost\n.\n")

    monkeypatch.setattr(ray_jobs, "_client", lambda _cluster: SimpleNamespace(run=run))
    monkeypatch.setattr(ray_jobs, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(ray_jobs, "SAID_AFTER", 1.0)
    result, _ = find(instance, "http://127.0.0.1:8265", clumps(200, 10))

    assert "did not finish (The node is lost): fix the cause" in sentence(result)
    logged = [entry.user_message for entry in instance.all_logs(result.run_id)]
    assert sum("no block of rows has come from the Ray job at" in line for line in logged) == 1
