"""Item statistics (classical test theory): difficulty and discrimination of each item."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.flagged_items import NOTHING
from assets.evaluate.observations import observations
from assets.evaluate.right_items import ItemOutcomes, right_items
from methods.benchmarks import Benchmarks
from methods.evaluation.outcomes import right_matrix
from methods.evaluation.statistics.item_analysis import item_statistics as classical
from resources.warehouse import Warehouse

Row = dict[str, Any]


class ItemStatisticsSettings(AssetConfig):
    """Settings of item statistics: the number of models that a flag needs."""

    min_models: int = Field(
        5,
        ge=2,
        description="An item is flagged only if at least so many models have a result for it.",
    )


@table_asset("evaluate.item_statistics", kinds={"numpy"}, deps=[observations])
def item_statistics(
    config: ItemStatisticsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Difficulty and discrimination of each item of a benchmark with right and wrong answers.

    Baselines and ablations do not count as models.
    """
    isolation = Isolation("evaluate.item_statistics")
    rows: list[Row] = []
    for right in right_items(warehouse, benchmarks, isolation):
        with isolation.release(right.slice.release_id):
            rows += _rows(right, config)
    table = write_rows(warehouse, {"evaluate.item_statistics": rows})
    flags = Counter(flag for row in rows for flag in row["flags"])
    return isolation.finish(warehouse, report(table, flags if rows else {"note": NOTHING}))


def _rows(outcomes: ItemOutcomes, settings: ItemStatisticsSettings) -> Iterator[Row]:
    right = right_matrix(outcomes.outcomes, outcomes.models, outcomes.items)
    for item_id, statistics in zip(
        outcomes.items, classical(right, settings.min_models), strict=True
    ):
        yield {
            **outcomes.slice.columns,
            "item_id": item_id,
            **vars(statistics),
            "flags": list(statistics.flags),
        }
