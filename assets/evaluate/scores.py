"""Scores: metrics of each model with confidence intervals, from observations."""

import dagster as dg

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, slices
from methods.benchmarks import Benchmarks
from methods.evaluation.scoring import score_rows
from resources.warehouse import Warehouse


@table_asset("evaluate.scores", version="2", deps=[observations])
def scores(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Each metric of each model with 95 % intervals, by subset and in these forms.

    - `floor` counts a model's failures as the lowest value; it is used for ranks.
    - `judged` leaves a model's failures out. Failures of a judge are left out of all forms.
    - `common` only uses turns on which every model was judged.
    - `all_items` also counts turns that were not asked, as the release lacks their image, as the lowest
      value. It only exists for releases with missing images.
    """
    isolation = Isolation("evaluate.scores")
    rows = []
    for slice_ in slices(warehouse, benchmarks, config.panel, isolation):
        with isolation.release(slice_.release_id):
            score_rows_of_slice = score_rows(
                slice_.benchmark.metrics, slice_.observed, slice_.with_lost
            )
            for row in score_rows_of_slice:
                provider = " + ".join(sorted(slice_.providers[row["model"]]))
                rows.append({**slice_.columns, "provider": provider, **row})
    table = write_rows(warehouse, {"evaluate.scores": rows})
    return isolation.finish(warehouse, report(table))
