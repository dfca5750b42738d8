"""Wording effects: which wordings of a question cost each model points.

What belongs here: the tables `evaluate.wording_effects` and `evaluate.group_spreads`. What a style is,
and how effects are computed, is `methods/evaluation/wording_effects.py`.
"""

from typing import Any

import dagster as dg

from assets.common.apart import Apart
from assets.common.automation import WHEN_READY
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, slices
from assets.evaluate.released import items_of
from methods.benchmarks import Benchmarks
from methods.evaluation.items import Item
from methods.evaluation.wording_effects import wording_rows
from resources.warehouse import Warehouse, Write

TABLE, SPREADS = "evaluate.wording_effects", "evaluate.group_spreads"
NO_GROUPS = "No release that was judged has questions in several wordings."


@table_asset(
    TABLE,
    settings=ScoringSettings,
    side_tables=[SPREADS],
    deps=[observations],
    automation_condition=WHEN_READY,
)
def wording_effects(
    settings: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
    apart: Apart,
) -> dg.MaterializeResult:
    """What wordings of each style score less or more than their question's other wordings do.

    `difference` is the mean of the style less the mean of its group, with the interval over groups, p
    by sign flips and after Holm. A style is the item's label `style`; without it one told by rule: as a
    question, polite, shorter or longer than the group's median. Each group's spread is in
    `evaluate.group_spreads`.
    """
    effects: list[dict[str, Any]] = []
    spreads: list[dict[str, Any]] = []
    items: dict[str, list[Item]] = {}
    for each in slices(warehouse, benchmarks, settings.panel, apart):
        if each.release_id not in items:
            # Slices come release by release.
            items = {each.release_id: items_of(warehouse, each.release_id)}
        with apart.release(each.release_id):
            found = wording_rows(
                each.benchmark.metrics,
                items[each.release_id],
                each.observed,
                seed=settings.seed,
                n_resamples=settings.n_resamples,
            )
            for made, rows in zip((effects, spreads), found, strict=True):
                made += [{**each.columns, **row} for row in rows]
    table = rows_to_arrow(TABLE, effects)
    warehouse.replace_all(
        [Write(TABLE, table, {}), Write(SPREADS, rows_to_arrow(SPREADS, spreads), {})]
    )
    return report(table, {"groups": len(spreads)} if spreads else {"note": NO_GROUPS})
