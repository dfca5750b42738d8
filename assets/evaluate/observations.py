"""Observations: one scored fact per row (model, judge, metric, item, turn), from answers and judgments.


The benchmark's `judge` runs on the stored judgments. No model is asked.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import dagster as dg
import pyarrow as pa

from assets.common.isolation import Isolation
from assets.common.table_rows import ArrowRows, map_of
from assets.common.tables import report, table_asset
from assets.evaluate.answers import answers
from assets.evaluate.judgments import judgments
from assets.evaluate.released import items_in_batches
from assets.evaluate.transcripts import transcripts_of
from methods.batched import batched
from methods.benchmarks import Benchmarks
from methods.errors import UserError
from methods.evaluation.asking import Transcript, with_policy
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import is_file
from methods.evaluation.items import Item
from methods.evaluation.judging import NO_PICTURE, RULE, Judgment, JudgmentKey, replay
from methods.evaluation.missing_images import lacks_picture
from resources.publishing.releases import current_releases
from resources.warehouse import Warehouse

Row = dict[str, Any]
ITEMS_AT_ONCE = 500
"""Items whose answers and judgments are in memory at the same time."""


class JudgingPass(NamedTuple):
    """One pass of judging over a release: the judge, its version and the replicate."""

    judge: str
    version: str
    replicate: int


class StoredJudgment(NamedTuple):
    """A stored judgment, and the key of its call."""

    judgment: Judgment
    call_key: str


Judgments = dict[JudgingPass, dict[tuple[str, str], dict[JudgmentKey, StoredJudgment]]]
"""Judging pass -> (model, item id) -> trial, turn and part -> judgment."""


@table_asset("evaluate.observations", deps=[answers, judgments])
def observations(
    warehouse: dg.ResourceParam[Warehouse],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """Scored facts: release, model, judge or rule, metric, item, turn, value and status.

    Failures of models and judges are rows, too. No model is asked.
    """
    isolation = Isolation("evaluate.observations")
    tables: list[pa.Table] = []
    unknown = []
    for release in warehouse.read("evaluate/answered_releases").to_pylist():
        if release["benchmark"] not in benchmarks:
            unknown.append(release["release_id"])
            if release["release_id"] in current_releases(warehouse).values():
                isolation.lose(release["release_id"], UserError(_without(release["benchmark"])))
            continue
        benchmark = benchmarks[release["benchmark"]]
        with isolation.release(release["release_id"]):
            # All rows of a release or none: scores over a part of its items would be wrong.
            rows = ArrowRows("evaluate.observations")
            for row in _rows(warehouse, benchmark, release["release_id"]):
                rows.add({**release, **row})
            tables.append(rows.arrow())
    table = pa.concat_tables([ArrowRows("evaluate.observations").arrow(), *tables])
    warehouse.replace("evaluate.observations", table)
    statuses = Counter(table["status"].to_pylist())
    counted: dict[str, Any] = {status: statuses[status] for status in sorted(statuses)}
    if unknown:
        counted["left out"] = f"There is no benchmark here for {', '.join(unknown)}."
    return isolation.finish(warehouse, report(table, counted))


def _without(benchmark: str) -> str:
    return (
        f"There is no benchmark {benchmark} here: install its package and run evaluate again, which "
        "scores the answers and judgments that are kept."
    )


def _rows(warehouse: Warehouse, benchmark: Benchmark, release_id: str) -> Iterator[Row]:
    where = {"release_id": release_id}
    # One snapshot for all batches, so that answers and judgments belong together.
    with warehouse.kept_open():
        answered = set(warehouse.read("evaluate/answering_models_of", where)["model"].to_pylist())
        passes: dict[JudgingPass, set[str]] = {}
        for row in warehouse.read("evaluate/judged_models_of", where).to_pylist():
            judge_pass = JudgingPass(row["judge"], row["judge_version"], row["replicate"])
            passes.setdefault(judge_pass, set()).add(row["model"])
        if not benchmark.judge_prompts:
            passes = {JudgingPass(RULE, benchmark.judge_version, 0): set()}
        for some in batched(items_in_batches(warehouse, release_id), ITEMS_AT_ONCE):
            items = {item.item_id: item for item in some}
            transcripts = transcripts_of(warehouse, release_id, list(items))
            judgments = _judgments(warehouse, benchmark, {**where, "item_ids": list(items)})
            for judge_pass, judged_models in passes.items():
                judged = judgments.get(judge_pass, {})
                for (model, item_id), transcript in transcripts.items():
                    # A model that a judge has not judged has no rows under this judge. A model that
                    # has answered nothing has rows under every judge, as nothing is left to judge.
                    if judge_pass.judge == RULE or model in judged_models or model not in answered:
                        stored_judgments = judged.get((model, item_id), {})
                        yield from _observe(
                            benchmark,
                            items[item_id],
                            model,
                            transcript,
                            judge_pass,
                            stored_judgments,
                        )


def _judgments(warehouse: Warehouse, benchmark: Benchmark, where: Row) -> Judgments:
    judged: Judgments = {}
    if not benchmark.judge_prompts:
        return judged
    for row in warehouse.read("evaluate/judgments_of", where).to_pylist():
        judge_pass = JudgingPass(row["judge"], row["judge_version"], row["replicate"])
        judgment = Judgment(map_of(row["scores"]) or {}, row["score"], row["explanation"])
        of_item = judged.setdefault(judge_pass, {}).setdefault((row["model"], row["item_id"]), {})
        of_item[JudgmentKey(row["trial"], row["turn"], row["part"])] = StoredJudgment(
            judgment, row["call_key"]
        )
    return judged


def _observe(
    benchmark: Benchmark,
    item: Item,
    model: str,
    transcript: Transcript,
    judging_pass: JudgingPass,
    stored_judgments: dict[JudgmentKey, StoredJudgment],
) -> Iterator[Row]:
    observed = replay(
        benchmark.judge(item, transcript),
        {place: stored.judgment for place, stored in stored_judgments.items()},
    )
    lacking = lacks_picture(item) and not is_file(model)
    for observation in observed:
        without = lacking and observation.status in ("failed", "not_asked")
        by = stored_judgments.get(
            JudgmentKey(observation.trial, observation.turn, observation.part)
        )
        yield {
            "model": model,
            "judge": judging_pass.judge,
            "judge_version": with_policy(judging_pass.version, transcript.context_policy),
            "replicate": judging_pass.replicate,
            "item_id": item.item_id,
            "metric": observation.metric,
            "trial": observation.trial,
            "turn": observation.turn,
            "part": observation.part,
            "status": NO_PICTURE if without else observation.status,
            "value": observation.value,
            "call_key": by.call_key if by else None,
            "answer_call_key": transcript.answer(observation.trial, observation.turn).call_key,
        }
