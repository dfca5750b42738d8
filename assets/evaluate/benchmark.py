"""Evaluation: answers, judgments and scores of one benchmark, made by one factory for all of them.

Partitioned by model. What belongs here: the path every benchmark takes. How a benchmark asks, judges
and scores is its own (`methods/evaluation/benchmark.py` and the folder of each).
"""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import dagster as dg

from assets.common.partitions import models
from assets.common.progress import show_progress
from assets.common.refused import reasons
from assets.common.tables import WHEN_READY, map_of, report, rows_to_arrow, table_asset
from assets.evaluate.inference import PARAMS, AnswerRun, converse_through
from methods.evaluation.benchmark import Benchmark, Item, Judgment, Turn
from methods.evaluation.scores import score_rows
from resources.llm.gateway import Gateway
from resources.llm.reading import Reading, complete_and_read
from resources.llm.request import ChatRequest
from resources.llm.session import Session
from resources.llm.usage import Usage
from resources.prompts import prompt
from resources.warehouse import Warehouse, Write

Row = dict[str, Any]


class ScoresConfig(dg.Config):
    """The bootstrap's seed: the same judgments give the same intervals."""

    seed: int = 0


def evaluation_assets(benchmark: Benchmark) -> list[dg.AssetsDefinition]:
    """Assets `answers`, `judgments` and `scores` of one benchmark."""

    @table_asset(
        "evaluate.answers",
        slice_of=benchmark.name,
        kinds={"openai"},
        deps=[["release", name] for name in ("releases", "items", "turns", "images")],
        partitions_def=models,
        automation_condition=WHEN_READY,
    )
    def answers(
        context: dg.AssetExecutionContext,
        warehouse: dg.ResourceParam[Warehouse],
        llm: dg.ResourceParam[Gateway],
    ) -> dg.MaterializeResult:
        """What the model answers, turn by turn over its own history, images at their turn."""
        release_id = _current_release(warehouse, benchmark)
        items = _items(warehouse, release_id)
        runs = [AnswerRun(model, item) for model in context.partition_keys for item in items]

        async def converse(session: Session, run: AnswerRun) -> list[Row]:
            return await converse_through(session, benchmark, run)

        conversations, usage = llm.map("evaluate.answers", runs, converse, show_progress(context))
        rows = [
            {
                **row,
                "benchmark": benchmark.name,
                "release_id": release_id,
                "model": run.model,
                "provider": llm.registry.model(run.model).provider,
                "item_id": run.item.item_id,
            }
            for run, conversation in zip(runs, conversations, strict=True)
            for row in conversation
        ]
        failed = [row for row in rows if row["status"] == "failed" or row["answer"] is None]
        return _write(
            warehouse,
            "answers",
            _slice(context, benchmark, release_id),
            rows,
            failed,
            usage,
            {"refused": sum(row["status"] == "refused" for row in rows)},
        )

    @table_asset(
        "evaluate.judgments",
        slice_of=benchmark.name,
        kinds={"openai"},
        deps=[answers, ["release", "references"]],
        partitions_def=models,
        automation_condition=WHEN_READY,
    )
    def judgments(
        context: dg.AssetExecutionContext,
        warehouse: dg.ResourceParam[Warehouse],
        llm: dg.ResourceParam[Gateway],
    ) -> dg.MaterializeResult:
        """What the judge says of each answer: it sees question, reference, answer, images, no name."""
        release_id = _current_release(warehouse, benchmark)
        items = {item.item_id: item for item in _items(warehouse, release_id)}
        given = _answers(context, warehouse, release_id)
        answered = [row for row in given if row["answer"] is not None]
        template = prompt(benchmark.judge_prompt)
        judge = llm.profile.judge
        requests = [
            ChatRequest(
                model=judge,
                messages=benchmark.judge_messages(
                    items[row["item_id"]], row["turn"], row["answer"], template
                ),
                prompt_version=template.version,
                params=PARAMS,
                schema=benchmark.judgment_schema,
            )
            for row in answered
        ]

        async def judge_one(session: Session, place: int) -> Reading[Judgment]:
            return await complete_and_read(session, requests[place], benchmark.parse_judgment)

        readings, usage = llm.map(
            "evaluate.judgments", range(len(requests)), judge_one, show_progress(context)
        )
        rows: list[Row] = []
        failed: list[Row] = []
        for row, reading in zip(answered, readings, strict=True):
            where = {
                key: row[key] for key in ("benchmark", "release_id", "model", "item_id", "turn")
            }
            where |= {"call_key": reading.key, "answer_call_key": row["call_key"]}
            if reading.loss:
                reason, detail = reading.loss
                failed.append({**where, "reason": reason, "detail": detail})
                continue
            judgment = reading.value
            assert judgment is not None
            rows.append(
                {
                    **where,
                    "judge": judge,
                    "provider": llm.registry.model(judge).provider,
                    "prompt_version": reading.prompt_version,
                    "scores": list(judgment.scores.items()),
                    "score": judgment.score,
                    "explanation": judgment.explanation,
                }
            )
        owned = _slice(context, benchmark, release_id)
        return _write(warehouse, "judgments", owned, rows, failed, usage)

    @table_asset(
        "evaluate.scores",
        slice_of=benchmark.name,
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
        """Means per dimension with 95 % intervals, by turn and by dialogue, and what they rest on."""
        release_id = _current_release(warehouse, benchmark)
        judge = llm.profile.judge
        turns = warehouse.read(
            "evaluate/turns_of",
            {"release_id": release_id, "judge": judge, "models": list(context.partition_keys)},
        ).to_pylist()
        for turn in turns:
            turn["scores"] = map_of(turn["scores"])
        rows = [
            {
                **row,
                "benchmark": benchmark.name,
                "release_id": release_id,
                "model": model,
                "judge": judge,
            }
            for model, group in groupby(turns, key=lambda turn: turn["model"])
            for row in score_rows(benchmark, list(group), config.seed)
        ]
        table = rows_to_arrow("evaluate.scores", rows)
        warehouse.replace("evaluate.scores", table, _slice(context, benchmark, release_id))
        return report(table)

    return [answers, judgments, scores]


def _slice(
    context: dg.AssetExecutionContext, benchmark: Benchmark, release_id: str
) -> dict[str, str | list[str]]:
    """The rows a run owns: its models on this release. Results on earlier releases stay."""
    return {
        "benchmark": benchmark.name,
        "release_id": release_id,
        "model": list(context.partition_keys),
    }


def _write(
    warehouse: Warehouse,
    stage: str,
    owned: dict[str, str | list[str]],
    rows: list[Row],
    failed: list[Row],
    usage: Usage,
    details: Mapping[str, Any] | None = None,
) -> dg.MaterializeResult:
    """Replace the slice of the stage's table and of `evaluate.failed` at once, and report."""
    table = rows_to_arrow(f"evaluate.{stage}", rows)
    lost = rows_to_arrow("evaluate.failed", [{**row, "stage": stage} for row in failed])
    warehouse.replace_all(
        [
            Write(f"evaluate.{stage}", table, owned),
            Write("evaluate.failed", lost, {**owned, "stage": stage}),
        ]
    )
    counted = {
        "failed": len(failed),
        **reasons(Counter(row["reason"] for row in failed)),
        **(details or {}),
    }
    return report(table, counted, usage=usage)


def _current_release(warehouse: Warehouse, benchmark: Benchmark) -> str:
    found = warehouse.read("evaluate/current_release", {"benchmark": benchmark.name}).to_pylist()
    if not found:
        raise dg.Failure(
            f"There is no release of {benchmark.name} to evaluate on; run the job `build` first.",
            allow_retries=False,
        )
    return str(found[0]["release_id"])


def _items(warehouse: Warehouse, release_id: str) -> list[Item]:
    """The release's items in order."""
    where = {"release_id": release_id}
    image_ids: dict[str, list[str]] = {}
    for image in warehouse.read("release/images_of", where).to_pylist():
        image_ids.setdefault(image["item_id"], []).append(image["image_id"])
    turns = warehouse.read("release/dialogues_of", where).to_pylist()
    return [
        Item(
            item_id,
            tuple(
                Turn(row["turn"], row["question"], row["reference"], tuple(row["image_positions"]))
                for row in group
            ),
            tuple(image_ids[item_id]),
        )
        for item_id, group in groupby(turns, key=lambda row: row["item_id"])
    ]


def _answers(context: dg.AssetExecutionContext, warehouse: Warehouse, release_id: str) -> list[Row]:
    return warehouse.read(
        "evaluate/answers_of", {"release_id": release_id, "models": list(context.partition_keys)}
    ).to_pylist()
