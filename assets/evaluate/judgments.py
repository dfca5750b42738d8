"""Judgments: what each judge says of every answer.

What belongs here: which answers are judged by whom. What a judge is sent, and how its reply is read, is
the benchmark's (`methods/evaluation/judging.py`), driven by `judge.py`.
"""

import dagster as dg
from pydantic import Field

from assets.common.apart import Apart
from assets.common.automation import WHEN_READY
from assets.common.progress import show_progress
from assets.common.tables import table_asset
from assets.evaluate.answers import answers
from assets.evaluate.inference import PARAMS
from assets.evaluate.judge import Judged, JudgeImages, JudgeRun, judge_item, judge_version
from assets.evaluate.released import Released, items_of, releases_in_force
from assets.evaluate.results import EvaluationSettings, ModelResults, ResultSet, write_results
from assets.evaluate.transcripts import transcripts_of
from assets.release import releases
from methods.benchmarks import Benchmarks
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.warehouse import Warehouse


class JudgmentsSettings(EvaluationSettings):
    """What a judge is shown, and how often it is asked the same."""

    images: JudgeImages = Field(
        "shown",
        description="Images that a judge is sent: those shown so far, all of the item, or none. "
        "Judgments with other images are other scores.",
    )
    replicates: int = Field(
        1, ge=1, description="How often the same is asked, to see how much a judge varies."
    )


@table_asset(
    "evaluate.judgments",
    settings=JudgmentsSettings,
    side_tables=["evaluate.failed", "evaluate.missing"],
    kinds={"openai"},
    deps=[answers, releases],
    automation_condition=WHEN_READY,
)
def judgments(
    context: dg.AssetExecutionContext,
    settings: JudgmentsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
    apart: Apart,
) -> dg.MaterializeResult:
    """What each judge of the profile says of each answer; it is never told who answered.

    Judged are the answers of the profile's models on the releases in force, and whatever one of the
    judges has not judged yet: of other models, on other releases. Judgments of judges that the profile
    no longer has stay, and those of models that it no longer evaluates.
    """
    judges = llm.profile.judges
    unjudged = [
        row
        for row in warehouse.read("evaluate/unjudged", {"judges": judges}).to_pylist()
        if row["benchmark"] in benchmarks and benchmarks[row["benchmark"]].judge_prompts
    ]
    lacking = {(row["release_id"], row["model"], row["judge"]) for row in unjudged}
    waiting = sorted({release_id for release_id, *_ in lacking})
    runs: list[tuple[Released, str, JudgeRun]] = []
    versions: dict[str, str] = {}
    for release in releases_in_force(warehouse, benchmarks, waiting):
        with apart.release(release.release_id):
            versions[release.release_id] = judge_version(release.benchmark, settings.images)
            runs += [
                (release, model, run)
                for model, run in _runs(warehouse, release, judges, settings)
                if model in llm.profile.evaluate
                or (release.release_id, model, run.judge) in lacking
            ]

    async def judge(calls: ModelCalls, place: int) -> list[Judged]:
        release, _, run = runs[place]
        if release.release_id not in apart.lost:
            with apart.release(release.release_id, asking=True):
                return await judge_item(calls, release.benchmark, run)
        return []

    judged, usage = llm.map(
        "evaluate.judgments",
        range(len(runs)),
        judge,
        show_progress(context),
        apart=(lambda place: runs[place][2].judge) if len(judges) > 1 else None,
        by_prompt=True,
    )
    results = ResultSet("evaluate.judgments")
    for (release, model, run), replies in zip(runs, judged, strict=True):
        if release.release_id in apart.lost:
            continue
        of_model = results.of(release, model, run.judge)
        made_by: dict[str, object] = {
            "provider": llm.registry.model(run.judge).provider,
            "replicate": run.replicate,
            "judge_version": versions[release.release_id],
        }
        _add(of_model, made_by, run, replies)
    return write_results(warehouse, results, settings.max_failed_share, usage)


def _runs(
    warehouse: Warehouse, release: Released, judges: list[str], settings: JudgmentsSettings
) -> list[tuple[str, JudgeRun]]:
    """Every item of a release with each model's answers to it, for each judge and replicate."""
    if not release.benchmark.judge_prompts:
        return []
    items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
    return [
        (
            model,
            JudgeRun(judge, replicate, items[item_id], transcript, settings.images, PARAMS),
        )
        for (model, item_id), transcript in transcripts_of(warehouse, release.release_id).items()
        for judge in judges
        for replicate in range(settings.replicates)
    ]


def _add(
    of: ModelResults, made_by: dict[str, object], run: JudgeRun, replies: list[Judged]
) -> None:
    """Rows of one item's judgments, and of those that were lost."""
    for asked, reply in replies:
        trial, turn, part = asked.place
        where = {"item_id": run.item.item_id, "trial": trial, "turn": turn, "call_key": reply.key}
        of.n_turns += 1
        if reply.value is None:
            assert reply.loss is not None
            reason, detail = reply.loss
            of.n_lost += 1
            of.fail({**where, "reason": reason, "detail": detail})
            continue
        of.add(
            "evaluate.judgments",
            {
                **where,
                **made_by,
                "part": part,
                "prompt_version": reply.prompt_version,
                "answer_call_key": run.transcript.answer(trial, turn).call_key,
                "scores": list(reply.value.scores.items()),
                "score": reply.value.score,
                "explanation": reply.value.explanation,
            },
        )
