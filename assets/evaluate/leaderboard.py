"""The leaderboard: what researchers read.

What belongs here: the view as an asset. It stands in `sql/evaluate/views.sql`.
"""

import dagster as dg

from assets.common.tables import WHEN_READY, report, table_asset
from assets.evaluate.scores import scores
from resources.warehouse import Warehouse


@table_asset("evaluate.leaderboard", deps=[scores], automation_condition=WHEN_READY)
def leaderboard(warehouse: dg.ResourceParam[Warehouse]) -> dg.MaterializeResult:
    """One number a row: benchmark, release, model, metric, value, interval, what it rests on."""
    return report(warehouse.read("evaluate/leaderboard"))
