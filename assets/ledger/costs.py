"""Costs: what models cost by day, stage and model.

What belongs here: the view that people read. It stands in `sql/ledger/views.sql`.
"""

import dagster as dg

from assets.common.automation import WHEN_READY
from assets.common.tables import report, table_asset
from assets.ledger.calls import calls, table_preview
from resources.warehouse import Warehouse


@table_asset("ledger.costs", deps=[calls], automation_condition=WHEN_READY)
def costs(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
    """What models cost by day (UTC), stage and model: calls answered and lost, tokens, USD, seconds."""
    rows = warehouse.read("ledger/costs")
    return report(rows, {"preview": table_preview(rows)})
