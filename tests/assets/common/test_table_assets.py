"""A table's asset: its row count, the version of its rows, links to calls, the pools it waits for."""

import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.common import pools
from assets.common.pools import pools_of
from assets.common.tables import ROW_COUNT, ROWS_OF_RUN, SOURCES, report, rows_to_arrow, table_asset
from resources.llm.usage import Usage
from resources.warehouse import Warehouse
from tests.assets.conftest import MakeWorld
from tests.assets.world import ANY_ASSETS, sentence

TABLE = "dialogue.failed"


def failures(set_id: str, n: int) -> list[dict[str, object]]:
    lost = {"stage": "summaries", "subject": "e", "reason": "no", "detail": ""}
    return [{"set_id": set_id, **lost}] * n


@pytest.fixture
def materialize(empty_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch):
    """Makes so many rows of this release: `materialize(n)`, a materialization."""
    monkeypatch.setitem(SOURCES, TABLE, SOURCES.get(TABLE))

    def make(n: int) -> dg.AssetMaterialization:
        def failed(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
            """Makes rows."""
            made = rows_to_arrow(TABLE, failures("this release", n))
            warehouse.replace(TABLE, made, {"set_id": "this release"})
            return report(made)

        asset = table_asset(TABLE)(failed)
        result = dg.materialize([asset], resources={"warehouse": empty_warehouse})
        (event,) = result.get_asset_materialization_events()
        return event.materialization

    return make


@pytest.mark.parametrize(
    ("earlier", "shown"), [(5, {ROW_COUNT: 7, ROWS_OF_RUN: 2}), (0, {ROW_COUNT: 2})]
)
def test_rows_that_a_run_left_as_they_are_count_too(empty_warehouse, materialize, earlier, shown):
    rows = rows_to_arrow(TABLE, failures("earlier release", earlier))
    empty_warehouse.replace(TABLE, rows, {"set_id": "earlier release"})

    metadata = {name: value.value for name, value in materialize(2).metadata.items()}

    assert {name: metadata[name] for name in (ROW_COUNT, ROWS_OF_RUN) if name in metadata} == shown


def test_equal_rows_have_the_equal_data_version(empty_warehouse: Warehouse, materialize) -> None:
    versions = [materialize(n).tags[DATA_VERSION_TAG] for n in (2, 2, 1)]
    assert versions[0] == versions[1] != versions[2]
    assert versions[2] == empty_warehouse.fingerprint(TABLE)


def test_an_asset_that_asks_models_links_to_its_calls() -> None:
    rows = rows_to_arrow(TABLE, failures("a", 1))
    shown = report(rows, usage=Usage(stage="dialogue.summaries")).metadata
    link = dg.MetadataValue.url("/loom/calls?stage=dialogue.summaries")
    assert shown["calls in the ledger"] == link


COSTS = "ledger.costs"


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
    monkeypatch.setitem(SOURCES, COSTS, SOURCES.get(COSTS))
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
            [table_asset(COSTS)(both)],
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


@pytest.mark.nightly
def test_an_empty_input_is_one_sentence_at_most(empty_world: MakeWorld) -> None:
    world = empty_world()
    keys = world.definitions.resolve_asset_graph().executable_asset_keys
    later = sorted((key for key in keys if key.path[0] != "ingest"), key=str)
    assert {key.path[0] for key in later} >= {
        "cluster",
        "dialogue",
        "release",
        "evaluate",
        "ledger",
    }
    for key in later:
        run = world.run(ANY_ASSETS, assets=dg.AssetSelection.assets(key))
        if not run.success:
            # `sentence` fails where the step ended by anything but a sentence of its own.
            said = sentence(run)
            assert said.endswith(".") and "\n" not in said, key
