"""Clustering on a Ray cluster: what it must have, and when a job ends."""

import builtins
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import numpy as np
import pytest

from assets.cluster.clusters import ray_detector
from assets.common import ray_jobs
from dagster_project.resources import make_resources
from methods.clustering.communities import Community
from methods.clustering.neighbours import ThresholdError
from resources.ray_rows.cluster import RayCluster
from resources.ray_rows.folder import RowFolder
from resources.ray_rows.neighbour_pairs import find_on_worker
from tests.assets.local_ray import ON_RAY
from tests.assets.world import Result, sentence

pytestmark = ON_RAY

TAU, ROWS = 0.75, 300
clusters_module = import_module("assets.cluster.clusters")


@pytest.fixture(autouse=True)
def small_jobs(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs for a thousand vectors, which would be done here otherwise."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(clusters_module, "MIN_VECTORS_FOR_JOB", 1000)
    monkeypatch.setattr(clusters_module, "ROWS_PER_BLOCK", ROWS)


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
