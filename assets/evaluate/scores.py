"""Scores: means of judgments with their intervals, partitioned by model.

What belongs here: which judgments are scored. The metrics are `methods/evaluation/`.
"""

from itertools import groupby

import dagster as dg

from assets.common.partitions import models
from assets.common.tables import WHEN_READY, map_of, report, rows_to_arrow, table_asset
from assets.evaluate.answers import answers
from assets.evaluate.judgments import judgments
from assets.evaluate.released import Row, releases_in_force
from methods.evaluation.scores import score_rows
from resources.llm.gateway import Gateway
from resources.warehouse import Warehouse, Write


class ScoresConfig(dg.Config):
    """The bootstrap's seed: the same judgments give the same intervals."""

    seed: int = 0


@table_asset(
    "evaluate.scores",
    deps=[judgments, answers],
    partitions_def=models,
    automation_condition=WHEN_READY,
)
def scores(
    context: dg.AssetExecutionContext,
    config: ScoresConfig,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """Means per dimension with 95 % intervals, micro and macro, and what they rest on."""
    judge = llm.profile.judge
    asked = list(context.partition_keys)
    rows: list[Row] = []
    writes = []
    for release in releases_in_force(warehouse):
        turns = warehouse.read(
            "evaluate/turns_of",
            {"release_id": release.release_id, "judge": judge, "models": asked},
        ).to_pylist()
        for turn in turns:
            turn["scores"] = map_of(turn["scores"])
        made = [
            {
                **row,
                "benchmark": release.benchmark.name,
                "release_id": release.release_id,
                "model": model,
                "judge": judge,
            }
            for model, group in groupby(turns, key=lambda turn: turn["model"])
            for row in score_rows(release.benchmark, list(group), config.seed)
        ]
        rows += made
        writes.append(
            Write("evaluate.scores", rows_to_arrow("evaluate.scores", made), release.owned(asked))
        )
    warehouse.replace_all(writes)
    return report(rows_to_arrow("evaluate.scores", rows))
