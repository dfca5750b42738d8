"""Writing what a stage of evaluation made: its rows and its losses, in one transaction.

What belongs here: what `evaluate/answers` and `evaluate/judgments` do with their rows.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg
import pyarrow as pa

from assets.common.refused import reasons
from assets.common.tables import report, rows_to_arrow
from assets.evaluate.released import Released, Row
from resources.llm.usage import Usage
from resources.warehouse import Warehouse, Write


def write_results(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    table: str,
    releases: Sequence[Released],
    rows: list[Row],
    failed: list[Row],
    usage: Usage,
    details: Mapping[str, Any] | None = None,
) -> dg.MaterializeResult:
    """Replace the run's rows of `table` and of `evaluate.failed` at once, and report."""
    stage = table.split(".")[1]
    made = rows_to_arrow(table, rows)
    writes = []
    for release in releases:
        owned = release.owned(list(context.partition_keys))
        writes += [
            Write(table, _of(release, table, rows), owned),
            Write(
                "evaluate.failed",
                _of(release, "evaluate.failed", [{**row, "stage": stage} for row in failed]),
                {**owned, "stage": stage},
            ),
        ]
    warehouse.replace_all(writes)
    counted = {
        "failed": len(failed),
        **reasons(Counter(row["reason"] for row in failed)),
        **(details or {}),
    }
    return report(made, counted, usage=usage)


def _of(release: Released, table: str, rows: list[Row]) -> pa.Table:
    name = release.benchmark.name
    return rows_to_arrow(table, [row for row in rows if row["benchmark"] == name])
