"""The row count of a materialization is the table's, also where a run made only some of the rows."""

import dagster as dg
import pytest

from assets.common.tables import ROW_COUNT, ROWS_OF_RUN, SOURCES, report, rows_to_arrow, table_asset
from resources.llm.usage import Usage
from resources.warehouse import Warehouse

TABLE = "dialogue.failed"


def failures(set_id: str, n: int) -> list[dict[str, object]]:
    return [
        {"set_id": set_id, "stage": "summaries", "subject": "e", "reason": "no", "detail": ""}
    ] * n


@pytest.mark.parametrize(
    ("earlier", "shown"), [(5, {ROW_COUNT: 7, ROWS_OF_RUN: 2}), (0, {ROW_COUNT: 2})]
)
def test_rows_that_a_run_left_as_they_are_count_too(
    empty_warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, earlier: int, shown: dict[str, int]
) -> None:
    monkeypatch.setitem(SOURCES, TABLE, SOURCES.get(TABLE))
    rows = rows_to_arrow(TABLE, failures("earlier release", earlier))
    empty_warehouse.replace(TABLE, rows, {"set_id": "earlier release"})

    def failed(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
        """Makes two rows."""
        made = rows_to_arrow(TABLE, failures("this release", 2))
        warehouse.replace(TABLE, made, {"set_id": "this release"})
        return report(made)

    result = dg.materialize([table_asset(TABLE)(failed)], resources={"warehouse": empty_warehouse})

    (event,) = result.get_asset_materialization_events()
    metadata = {name: value.value for name, value in event.materialization.metadata.items()}
    assert {name: metadata[name] for name in (ROW_COUNT, ROWS_OF_RUN) if name in metadata} == shown


def test_an_asset_that_asks_models_links_to_its_calls() -> None:
    rows = rows_to_arrow(TABLE, failures("a", 1))
    shown = report(rows, usage=Usage(stage="dialogue.summaries")).metadata
    link = dg.MetadataValue.url("/loom/calls?stage=dialogue.summaries")
    assert shown["calls in the ledger"] == link
