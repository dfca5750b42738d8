"""What a materialization says: the table's row count, a version of its rows, a link to its calls."""

import dagster as dg
import pytest
from dagster._core.definitions.data_version import DATA_VERSION_TAG

from assets.common.tables import ROW_COUNT, ROWS_OF_RUN, SOURCES, report, rows_to_arrow, table_asset
from resources.llm.usage import Usage
from resources.warehouse import Warehouse

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
