"""The ledger of model calls in the warehouse: what a build, a stage or a model cost, in SQL.

What belongs here: the mirror of `ledger.sqlite` and the view people ask. The ledger itself is
`resources/llm/ledger.py`; nothing reads the mirror to decide what to ask.
"""

import dagster as dg
import pyarrow as pa

from assets.tables import WHEN_READY, preview, report, table_asset
from resources.accounts import read_accounts
from resources.llm.ledger import Ledger
from resources.warehouse import Warehouse, arrow_schema

N_SHOWN = 20


@table_asset("ledger.calls", kinds={"sqlite"})
def calls(
    warehouse: dg.ResourceParam[Warehouse], ledger: dg.ResourceParam[Ledger]
) -> dg.MaterializeResult:
    """Every model call that was paid for, answered or lost: the ledger as it stands, without texts."""
    rows = read_accounts(ledger, arrow_schema("ledger.calls"))
    warehouse.replace("ledger.calls", rows)
    totals = warehouse.read("ledger/totals").to_pylist()
    dearest = warehouse.read("ledger/dearest", {"n_rows": N_SHOWN})
    return report(rows, {**(totals[0] if totals else {}), "dearest": _shown(dearest)})


@table_asset("ledger.costs", deps=[calls], automation_condition=WHEN_READY)
def costs(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
    """What models cost by day (UTC), stage and model: calls answered and lost, tokens, USD, seconds."""
    rows = warehouse.read("ledger/costs")
    return report(rows, {"preview": _shown(rows)})


def _shown(rows: pa.Table) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN))


ASSETS = [calls, costs]
