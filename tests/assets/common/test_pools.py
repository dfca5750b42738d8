"""A step that uses two pooled resources holds a slot in both of their pools, or waits for it."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from assets.common import pools
from assets.common.pools import pools_of
from assets.common.tables import SOURCES, table_asset
from resources.warehouse import Warehouse

TABLE = "ledger.costs"


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(
        str(tmp_path), overrides={"telemetry": {"enabled": False}}
    ) as of_folder:
        yield of_folder


def holders(instance: dg.DagsterInstance, pool: str) -> int:
    return instance.event_log_storage.get_concurrency_info(pool).active_slot_count


@pytest.mark.parametrize("full", ["models", "memory"])
def test_a_step_waits_for_each_pool_of_its_resources(instance, tmp_path, monkeypatch, full):
    monkeypatch.setitem(SOURCES, TABLE, SOURCES.get(TABLE))
    monkeypatch.setattr(pools, "WAIT_SECONDS", 0.3)
    storage = instance.event_log_storage
    for pool in ("models", "memory"):
        storage.set_concurrency_slots(pool, 1)
    storage.claim_concurrency_slot(full, "another run", "another step")
    held: list[int] = []
    begun = threading.Event()

    def both(
        warehouse: dg.ResourceParam[Warehouse],
        llm: dg.ResourceParam[Any],
        embedder: dg.ResourceParam[Any],
    ) -> dg.MaterializeResult:
        """Asks a model and embeds."""
        held.extend(holders(instance, pool) for pool in ("models", "memory"))
        begun.set()
        return dg.MaterializeResult()

    def run() -> None:
        dg.materialize(
            [table_asset(TABLE)(both)],
            instance=instance,
            resources={
                "warehouse": Warehouse(tmp_path / "warehouse.duckdb"),
                "llm": SimpleNamespace(),
                "embedder": SimpleNamespace(),
            },
        )

    running = threading.Thread(target=run)
    running.start()
    assert not begun.wait(2), "the pool was full"
    storage.free_concurrency_slot_for_step("another run", "another step")
    running.join(60)
    assert held == [1, 1]
    assert [holders(instance, pool) for pool in ("models", "memory")] == [0, 0]


def test_a_named_pool_comes_before_those_of_resources() -> None:
    def embeds(embedder: object) -> None: ...

    assert pools_of(embeds, "memory") == ["memory"]
    assert pools_of(embeds, "fetching") == ["fetching", "memory"]
