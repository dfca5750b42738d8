"""Work by row on a Ray cluster of two workers: the rows that it gives here, whoever dies on the way."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pyarrow as pa
import pytest
from filelock import FileLock

from assets.cluster import embeddings as embeddings_asset
from assets.common import ray_jobs
from assets.common.failures import plain_errors
from assets.common.ray_jobs import RowsOnRay, RowWork
from methods.ids import content_id
from resources.embedding.embedder import PACKAGED, Embedder
from resources.ray_rows.cluster import RayCluster
from resources.warehouse import Warehouse
from tests.assets.cluster.embedding import entry, fill
from tests.assets.local_ray import ON_RAY, one_worker_dies
from tests.assets.world import Result, sentence
from tests.doubles.serving import free_ports

pytestmark = ON_RAY

embeddings_module = importlib.import_module("assets.cluster.embeddings")
TEXTS_PER_BLOCK = 8
EMBEDDING = RowWork(
    "resources.embedding.embedder:embed_on_worker",
    {"model": PACKAGED, "backend": "torch", "device": "cpu"},
    TEXTS_PER_BLOCK,
)


@pytest.fixture(autouse=True)
def small_jobs(loom_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs for ten rows, which would be done here otherwise."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray_jobs, "MIN_ROWS_FOR_JOB", 10)
    monkeypatch.setattr(embeddings_module, "TEXTS_PER_BLOCK", TEXTS_PER_BLOCK)


@pytest.fixture
def warehouse(loom_home: Path) -> Warehouse:
    return Warehouse(loom_home / "warehouse.duckdb")


def lines(instance: dg.DagsterInstance, result: Result) -> list[str]:
    """What the job's driver says of its blocks."""
    records = instance.all_logs(result.run_id)
    return [record.user_message for record in records if " workers" in record.user_message]


def on_ray(
    instance: dg.DagsterInstance, address: str, act: Callable[[RowsOnRay], Any]
) -> tuple[Result, list[Any]]:
    """A run that does something with the cluster, and what that gives."""
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


def embed(
    warehouse: Warehouse, instance: dg.DagsterInstance, address: str | None, runner: str
) -> Result:
    return dg.materialize(
        [embeddings_asset],
        instance=instance,
        resources={"warehouse": warehouse, "embedder": Embedder(), "ray": RayCluster(address)},
        run_config={"ops": {"cluster__embeddings": {"config": {"runner": runner}}}},
        raise_on_error=False,
    )


def kept(warehouse: Warehouse) -> dict[tuple[str, str, str], np.ndarray]:
    rows = warehouse.sql("SELECT * FROM cluster.embeddings").to_pylist()
    return {(row["text_id"], row["model"], row["text"]): np.array(row["vector"]) for row in rows}


class TestWithWorkers:
    """A cluster and its jobs."""

    @pytest.mark.nightly
    def test_a_killed_worker_costs_its_block_and_vectors_are_those_of_one_process(
        self, instance, ray, warehouse, tmp_path
    ):
        """One of two is stopped, which holds its block, and killed once the other's are stored."""
        rows = [entry(f"e{i}", [], text) for i, text in enumerate(texts(79))]
        fill(warehouse, *rows)

        with one_worker_dies(ray, lambda: warehouse.count("cluster.embeddings") > 0) as killed:
            result = embed(warehouse, instance, ray.address, "ray")

        assert result.success and len(killed) == 1
        # 79 captions and the title that all entries have, in blocks of 8; each is done once.
        assert lines(instance, result)[-1].startswith("10/10 blocks, 80 rows, ")
        here = Warehouse(tmp_path / "here.duckdb")
        fill(here, *rows)
        assert embed(here, instance, None, "local").success
        on_workers, local = kept(warehouse), kept(here)
        assert on_workers.keys() == local.keys() and len(local) == 80
        assert min(float(local[key] @ on_workers[key]) for key in local) > 1 - 1e-6


def test_nobody_at_the_address(instance, warehouse, loom_home):
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
