"""Copy of the ledger's model calls in the warehouse (`ledger.calls`), for SQL on their cost."""

import dagster as dg
import pyarrow as pa

from assets.choice import mmiu_items, translations
from assets.common.previews import preview
from assets.common.tables import report, table_asset
from assets.evaluate import judge_bias_tests, pairs, second_readings
from assets.quality import checks
from assets.rewrite import contexts, rewrites, seed_rewrites
from resources.llm.ledger import Ledger
from resources.llm.ledger.ledger import read_paid_calls
from resources.warehouse import Warehouse, arrow_schema

N_SHOWN = 20


@table_asset(
    "ledger.calls",
    kinds={"sqlite"},
    deps=[
        *(rewrites, seed_rewrites, contexts, translations, mmiu_items),
        *(checks, judge_bias_tests, pairs, second_readings),
    ],
    automation_condition=None,
)
def calls(
    warehouse: dg.ResourceParam[Warehouse], ledger: dg.ResourceParam[Ledger]
) -> dg.MaterializeResult:
    """Every paid model call, answered or failed: the ledger without texts."""
    rows = read_paid_calls(ledger, arrow_schema("ledger.calls"))
    warehouse.replace("ledger.calls", rows)
    totals = warehouse.read("ledger/totals").to_pylist()
    most_expensive = warehouse.read("ledger/most_expensive", {"n_rows": N_SHOWN})
    return report(
        rows, {**(totals[0] if totals else {}), "most expensive": table_preview(most_expensive)}
    )


def table_preview(rows: pa.Table) -> dg.MarkdownMetadataValue:
    """Make a Markdown table of the first rows, for the UI."""
    return dg.MetadataValue.md(preview(rows, n_rows=N_SHOWN))
