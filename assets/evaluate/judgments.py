"""Judgments: what the judge says of every answer, partitioned by model.

What belongs here: which answers are judged. What a judge is sent, and how its reply is read, is the
benchmark's (`methods/evaluation/benchmark.py`).
"""

import dagster as dg

from assets.common.partitions import models
from assets.common.progress import show_progress
from assets.common.tables import WHEN_READY, table_asset
from assets.evaluate.answers import answers
from assets.evaluate.inference import PARAMS
from assets.evaluate.released import Released, Row, items_of, releases_in_force
from assets.evaluate.results import write_results
from assets.release import releases
from methods.evaluation.benchmark import Judgment
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import ParsedReply, complete_and_parse
from resources.llm.request import ChatRequest
from resources.prompts import prompt
from resources.warehouse import Warehouse

NAMED = ("benchmark", "release_id", "model", "item_id", "turn")


@table_asset(
    "evaluate.judgments",
    side_tables=["evaluate.failed"],
    kinds={"openai"},
    deps=[answers, releases],
    partitions_def=models,
    automation_condition=WHEN_READY,
)
def judgments(
    context: dg.AssetExecutionContext,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
) -> dg.MaterializeResult:
    """What the judge says of each answer: it sees question, reference, answer, images, no name."""
    released = releases_in_force(warehouse)
    judge = llm.profile.judge
    asked = [
        (release, row, request)
        for release in released
        for row, request in _requests(context, warehouse, release, judge)
    ]

    async def judge_one(calls: ModelCalls, place: int) -> ParsedReply[Judgment]:
        release, _, request = asked[place]
        return await complete_and_parse(calls, request, release.benchmark.parse_judgment)

    replies, usage = llm.map(
        "evaluate.judgments", range(len(asked)), judge_one, show_progress(context)
    )
    rows: list[Row] = []
    failed: list[Row] = []
    for (_, row, _), reply in zip(asked, replies, strict=True):
        where = {name: row[name] for name in NAMED}
        where |= {"call_key": reply.key, "answer_call_key": row["call_key"]}
        if reply.loss:
            reason, detail = reply.loss
            failed.append({**where, "reason": reason, "detail": detail})
            continue
        judgment = reply.value
        assert judgment is not None
        rows.append(
            {
                **where,
                "judge": judge,
                "provider": llm.registry.model(judge).provider,
                "prompt_version": reply.prompt_version,
                "scores": list(judgment.scores.items()),
                "score": judgment.score,
                "explanation": judgment.explanation,
            }
        )
    return write_results(context, warehouse, "evaluate.judgments", released, rows, failed, usage)


def _requests(
    context: dg.AssetExecutionContext, warehouse: Warehouse, release: Released, judge: str
) -> list[tuple[Row, ChatRequest]]:
    """Each answer of the run's models on a release, with what the judge is sent for it."""
    benchmark = release.benchmark
    items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
    template = prompt(benchmark.judge_prompt)
    given = warehouse.read(
        "evaluate/answers_of",
        {"release_id": release.release_id, "models": list(context.partition_keys)},
    ).to_pylist()
    return [
        (
            row,
            ChatRequest(
                model=judge,
                messages=benchmark.judge_messages(
                    items[row["item_id"]], row["turn"], row["answer"], template
                ),
                prompt_version=template.version,
                params=PARAMS,
                schema=benchmark.judgment_schema,
                task=template.task,
                superseded=template.superseded,
            ),
        )
        for row in given
        if row["answer"] is not None
    ]
