"""Answers: what a model says to every item of the releases in force, partitioned by model.

What belongs here: which items a model is asked. How an item is asked is `inference.py` and the
benchmark (`methods/evaluation/benchmark.py`).
"""

import dagster as dg

from assets.common.partitions import models
from assets.common.progress import show_progress
from assets.common.tables import WHEN_READY, table_asset
from assets.evaluate.inference import AnswerRun, answer_item
from assets.evaluate.released import Row, items_of, releases_in_force
from assets.evaluate.results import write_results
from assets.release import releases
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.warehouse import Warehouse


@table_asset(
    "evaluate.answers",
    side_tables=["evaluate.failed"],
    kinds={"openai"},
    deps=[releases],
    partitions_def=models,
    automation_condition=WHEN_READY,
)
def answers(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """What the model answers, turn by turn over its own history, images at their turn."""
    released = releases_in_force(warehouse)
    runs = [
        (release, AnswerRun(model, item))
        for release in released
        for items in [items_of(warehouse, release.release_id)]
        for model in context.partition_keys
        for item in items
    ]

    async def converse(calls: ModelCalls, place: int) -> list[Row]:
        release, run = runs[place]
        return await answer_item(calls, release.benchmark, run)

    conversations, usage = llm.map(
        "evaluate.answers", range(len(runs)), converse, show_progress(context)
    )
    rows = [
        {
            **row,
            "benchmark": release.benchmark.name,
            "release_id": release.release_id,
            "model": run.model,
            "provider": llm.registry.model(run.model).provider,
            "item_id": run.item.item_id,
        }
        for (release, run), conversation in zip(runs, conversations, strict=True)
        for row in conversation
    ]
    failed = [row for row in rows if row["status"] == "failed" or row["answer"] is None]
    refused = sum(row["status"] == "refused" for row in rows)
    return write_results(
        context, warehouse, "evaluate.answers", released, rows, failed, usage, {"refused": refused}
    )
