"""Evaluation: answers, judgments and scores of one benchmark, made by one factory for all of them.

Partitioned by model. What belongs here: the path every benchmark takes. How a benchmark asks, judges
and scores is its own (`methods/benchmark.py` and the folder of each).
"""

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

import dagster as dg

from assets.ingest import reasons
from assets.partitions import models
from assets.release import releases
from assets.tables import WHEN_READY, report, rows_to_arrow, table_asset
from methods.benchmark import Benchmark, Item, Turn, is_refusal
from methods.parsing import ParseError
from methods.scoring.clustered_mean import AGGREGATIONS, clustered_mean
from resources.llm.gateway import Gateway, Session
from resources.llm.request import ChatRequest, Completion, Failure
from resources.llm.usage import Usage
from resources.prompts import prompt
from resources.warehouse import Warehouse, Write

Row = dict[str, Any]
PARAMS = {"temperature": 0.0, "max_tokens": 2048}


class ScoresConfig(dg.Config):
    """The bootstrap's seed: the same judgments give the same intervals."""

    seed: int = 0


class AnswerRun(NamedTuple):
    """One model before one item."""

    model: str
    item: Item


def evaluation_assets(benchmark: Benchmark) -> list[dg.AssetsDefinition]:
    """Assets `answers`, `judgments` and `scores` of one benchmark."""

    @table_asset(
        "evaluate.answers",
        slice_of=benchmark.name,
        kinds={"openai"},
        deps=list(releases.keys),
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
        runs = [
            AnswerRun(model, item)
            for model in context.partition_keys
            for item in _items(warehouse, release_id)
        ]

        async def converse(session: Session, run: AnswerRun) -> list[Row]:
            return await _converse(session, benchmark, run)

        conversations, usage = llm.map("evaluate.answers", runs, converse, context.log.info)
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
        deps=[answers],
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
            )
            for row in answered
        ]
        outcomes, usage = llm.ask("evaluate.judgments", requests, context.log.info)
        rows: list[Row] = []
        failed: list[Row] = []
        for row, outcome in zip(answered, outcomes, strict=True):
            where = {
                key: row[key] for key in ("benchmark", "release_id", "model", "item_id", "turn")
            }
            where["call_key"] = outcome.key
            if isinstance(outcome, Failure):
                failed.append({**where, "reason": outcome.kind, "detail": outcome.detail})
                continue
            try:
                judgment = benchmark.parse_judgment(outcome.text)
            except ParseError as error:
                failed.append({**where, "reason": error.reason, "detail": error.detail})
                continue
            rows.append(
                {
                    **where,
                    "judge": judge,
                    "provider": llm.registry.model(judge).provider,
                    "prompt_version": template.version,
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
        rows = [
            {
                **row,
                "benchmark": benchmark.name,
                "release_id": release_id,
                "model": model,
                "judge": judge,
            }
            for model, group in groupby(turns, key=lambda turn: turn["model"])
            for row in _scores(benchmark, list(group), config.seed)
        ]
        table = rows_to_arrow("evaluate.scores", rows)
        warehouse.replace("evaluate.scores", table, _slice(context, benchmark, release_id))
        return report(table)

    return [answers, judgments, scores]


async def _converse(session: Session, benchmark: Benchmark, run: AnswerRun) -> list[Row]:
    """One dialogue with one model. A turn that fails ends it: what follows would stand on a history
    that never was, and an error's text is nobody's answer."""
    rows: list[Row] = []
    history: list[str] = []
    for turn in run.item.turns:
        here = {"turn": turn.turn, "prompt_version": benchmark.answer_version}
        if len(history) < turn.turn - 1:
            unasked = {"reason": "not_asked", "detail": f"Turn {len(history) + 1} has no answer."}
            rows.append({**here, "status": "failed", "answer": None, "call_key": None, **unasked})
            continue
        outcome = await session.complete(
            ChatRequest(
                model=run.model,
                messages=benchmark.messages(run.item, turn.turn, history),
                prompt_version=benchmark.answer_version,
                params=PARAMS,
            )
        )
        here["call_key"] = outcome.key
        if isinstance(outcome, Completion):
            status = "refused" if is_refusal(outcome.text) else "answered"
            rows.append({**here, "status": status, "answer": outcome.text})
            history.append(outcome.text)
        else:
            status = "refused" if outcome.kind == "refused" else "failed"
            why = {"reason": outcome.kind, "detail": outcome.detail}
            rows.append({**here, "status": status, "answer": None, **why})
    return rows


def _scores(benchmark: Benchmark, turns: list[Row], seed: int) -> list[Row]:
    """Rows of `evaluate.scores` for one model, less the columns that are the same for all."""
    dialogues = [list(group) for _, group in groupby(turns, key=lambda turn: turn["item_id"])]
    judged = [turn for turn in turns if turn["scores"] is not None]
    providers = sorted(
        {turn["provider"] for turn in turns} | {turn["judge_provider"] for turn in judged}
    )
    counts = {
        "provider": " + ".join(providers),
        "n_items": len(dialogues),
        "n_turns": len(turns),
        "n_judged": len(judged),
        # A refusal in words is judged like any answer, so its judgment can be lost; one without
        # a text is no loss.
        "n_failed": sum(
            turn["scores"] is None and (turn["status"] != "refused" or turn["has_text"])
            for turn in turns
        ),
        "n_refused": sum(turn["status"] == "refused" for turn in turns),
    }
    rows = []
    for dimension in benchmark.dimensions:
        values = [
            [
                dict(_pairs(turn["scores"]))[dimension] * benchmark.scale
                for turn in dialogue
                if turn["scores"] is not None
            ]
            for dialogue in dialogues
        ]
        for aggregation in AGGREGATIONS:
            estimate = clustered_mean(values, aggregation, seed=seed)
            rows.append(
                {"dimension": dimension, "aggregation": aggregation, **vars(estimate), **counts}
            )
    return rows


def _pairs(entries: list[Row]) -> list[tuple[str, int]]:
    return [(entry["key"], entry["value"]) for entry in entries]


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
    counted = {"failed": len(failed), **reasons(failed), **(details or {})}
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
