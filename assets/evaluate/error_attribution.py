"""Error attribution in multi-turn conversations: errors that disappear if earlier turns are given
(perfect perception, perfect reasoning).
"""

from typing import Any

import dagster as dg

from assets.common.isolation import Isolation
from assets.common.tables import report, table_asset, write_rows
from assets.evaluate.observations import observations
from assets.evaluate.observed import ScoringSettings, slices_of
from methods.benchmarks import Benchmarks
from methods.convbench.attribution import LATER_TURN, attribution_rows
from methods.convbench.scores import PERFECT_PERCEPTION, PERFECT_REASONING
from resources.warehouse import Warehouse


@table_asset("evaluate.error_attribution", deps=[observations])
def error_attribution(
    config: ScoringSettings,
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Errors in reasoning and creation that disappear if references of earlier turns are given.

    Each row also has the right answers that become wrong, and the net effect on the win rate with its
    p-value, for all items or by task. Errors also disappear by chance: earlier turns only count as a
    cause if `verdict` is `gain`. Benchmarks without such settings have no rows.
    """
    isolation = Isolation("evaluate.error_attribution")
    rows: list[dict[str, Any]] = []
    observed = warehouse.select(
        "evaluate.observations",
        "benchmark",
        "release_id",
        order="release_id",
        distinct=True,
        trial=[PERFECT_PERCEPTION, PERFECT_REASONING],
    )
    for release in observed.to_pylist():
        if release["benchmark"] not in benchmarks:
            continue
        benchmark = benchmarks[release["benchmark"]]
        with isolation.release(release["release_id"]):
            for slice_ in slices_of(warehouse, benchmark, release["release_id"], config.panel):
                followed = attribution_rows(slice_.observed)
                rows += [{**slice_.columns, **row} for row in followed]
    table = write_rows(warehouse, {"evaluate.error_attribution": rows})
    whole = [row for row in rows if not row["subset_label"]]
    return isolation.finish(
        warehouse,
        report(
            table,
            {
                "releases": len({row["release_id"] for row in rows}),
                "causes named": sum(
                    row["verdict"] == "gain" and row["change"] != LATER_TURN for row in whole
                ),
                "most items left out": max((row["n_left_out"] for row in whole), default=0),
            },
        ),
    )
