"""Judgments: the scores that each LLM judge gives every answer."""

import sys
from typing import NamedTuple, cast, get_args

import dagster as dg
from pydantic import Field, field_validator

from assets.common.isolation import Isolation
from assets.common.progress import show_progress
from assets.common.tables import table_asset
from assets.evaluate.answers import answers, item_limit_of_answers
from assets.evaluate.archive import archived_judges, kept_models
from assets.evaluate.inference import PARAMS
from assets.evaluate.judge import JudgeImages, JudgeRun, judge_item, judge_version
from assets.evaluate.released import EvaluatedRelease, evaluated_releases
from assets.evaluate.results import EvaluationSettings, ModelResults, ResultSet, write_results
from assets.evaluate.transcripts import LazyTranscripts
from assets.release import releases
from methods.benchmarks import Benchmarks
from methods.evaluation.candidates import models_behind
from methods.evaluation.judging import JudgeRequest, Judgment, JudgmentKey
from methods.naming import listed
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import ParsedReply
from resources.warehouse import Warehouse


class JudgmentsSettings(EvaluationSettings):
    """Settings of judgments: the images that a judge sees, and the number of replicates."""

    images: JudgeImages = Field(
        "shown",
        description="Images that a judge is sent: those shown so far, all of the item, or none. "
        "Judgments with other images are other scores.",
    )
    images_by_benchmark: dict[str, str] = Field(
        {}, description="Another choice of images by the name of a benchmark."
    )
    replicates: int = Field(
        1, ge=1, description="How often the same is asked, to see how much a judge varies."
    )

    @field_validator("images_by_benchmark")
    @classmethod
    def _known(cls, choices: dict[str, str]) -> dict[str, str]:
        for benchmark, images in choices.items():
            if images not in get_args(JudgeImages):
                raise ValueError(
                    f"images of {benchmark} are {images!r}, but can be {listed(get_args(JudgeImages))}"
                )
        return choices

    def images_of(self, release: EvaluatedRelease) -> JudgeImages:
        """Return the setting of the images that a judge sees on a release."""
        choice = self.images_by_benchmark.get(release.benchmark.name, self.images)
        return cast("JudgeImages", choice)


@table_asset(
    "evaluate.judgments",
    side_tables=["evaluate.failed", "evaluate.missing", "evaluate.shown_judgments"],
    kinds={"openai"},
    deps=[answers, releases],
)
def judgments(
    context: dg.AssetExecutionContext,
    config: JudgmentsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """The judgment of each judge of the profile on each answer. A judge never sees the model's name.

    Judges rate the answers of the profile's models on the current releases, and all other answers,
    such as imported predictions, that they have not rated yet. Judgments by former judges and of
    former models stay. If the answers were asked with a limit, judges are only asked about its items.
    """
    isolation = Isolation("evaluate.judgments")
    archived, frozen = archived_judges(warehouse), kept_models(warehouse)
    judges = [judge for judge in llm.profile.judges if judge not in archived]
    unjudged = [
        row
        for row in warehouse.read("evaluate/unjudged", {"judges": judges}).to_pylist()
        if row["benchmark"] in benchmarks
        and benchmarks[row["benchmark"]].judge_prompts
        and row["model"] not in frozen
    ]
    lacking = {(row["release_id"], row["model"], row["judge"]) for row in unjudged}
    waiting = sorted({release_id for release_id, *_ in lacking})
    limit = item_limit_of_answers(context.instance, warehouse)
    runs: list[_JudgeRunKey] = []
    versions: dict[str, str] = {}
    transcripts: dict[str, LazyTranscripts] = {}
    for release in evaluated_releases(warehouse, benchmarks, waiting):
        with isolation.release(release.release_id):
            release_id = release.release_id
            versions[release_id] = judge_version(release.benchmark, config.images_of(release))
            transcripts[release_id] = LazyTranscripts(warehouse, release_id, len(judges) + 1)
            of_release = [
                run
                for run in _runs(warehouse, release, judges, config)
                if run.model in llm.profile.evaluate
                or (release_id, run.model, run.judge) in lacking
            ]
            # Sorted by batch of items, so that the transcripts of a batch are read only once.
            portion_of = transcripts[release_id].portion_of
            runs += sorted(of_release, key=lambda run: portion_of[run.item_id])

    async def judge(calls: ModelCalls, place: int) -> list[_JudgeReply]:
        run = runs[place]
        release_id = run.release.release_id
        if release_id not in isolation.lost:
            with isolation.release(release_id, asking=True):
                transcript = await transcripts[release_id].get(run.model, run.item_id)
                if transcript is not None:
                    images = config.images_of(run.release)
                    judge_run = JudgeRun(run.judge, run.replicate, *transcript, images, PARAMS)
                    judging = judge_item(calls, run.release.benchmark, judge_run)
                    replies = await limit.ask(calls, run.release, run.item_id, judging)
                    return [_compact(judge_run, *reply) for reply in replies or []]
        return []

    judged, usage = llm.map(
        "evaluate.judgments",
        range(len(runs)),
        judge,
        show_progress(context),
        apart=(lambda place: runs[place].judge) if len(judges) > 1 else None,
        by_prompt=True,
        candidates=lambda place: models_behind(runs[place].model),
    )
    results = ResultSet("evaluate.judgments")
    for run, replies in zip(runs, judged, strict=True):
        if run.release.release_id in isolation.lost:
            continue
        of_model = results.results_for(run.release, run.model, run.judge)
        made_by: dict[str, object] = {
            "provider": llm.registry.model(run.judge).provider,
            "replicate": run.replicate,
            "judge_version": versions[run.release.release_id],
        }
        _add(of_model, made_by, run.item_id, replies)
    return isolation.finish(
        warehouse, write_results(warehouse, results, config.max_failed_share, usage)
    )


class _JudgeRunKey(NamedTuple):
    """One task of a judge: the answers of one model to one item, in one replicate."""

    release: EvaluatedRelease
    model: str
    item_id: str
    judge: str
    replicate: int


class _JudgeReply(NamedTuple):
    """A judge's reply about the answer of the call `answer_call_key`, without the request's texts."""

    place: JudgmentKey
    call_key: str
    prompt_version: str
    answer_call_key: str | None
    judgment: Judgment | None
    loss: tuple[str, str] | None


def _compact(run: JudgeRun, request: JudgeRequest, reply: ParsedReply[Judgment]) -> _JudgeReply:
    answer = run.transcript.answer(request.place.trial, request.place.turn)
    version = sys.intern(reply.prompt_version)
    return _JudgeReply(request.place, reply.key, version, answer.call_key, reply.value, reply.loss)


def _runs(
    warehouse: Warehouse, release: EvaluatedRelease, judges: list[str], settings: JudgmentsSettings
) -> list[_JudgeRunKey]:
    """List the tasks of all judges on a release; none if the benchmark needs no judge."""
    if not release.benchmark.judge_prompts:
        return []
    answered = warehouse.read("evaluate/answered_items_of", {"release_id": release.release_id})
    columns = (answered[name].to_pylist() for name in ("model", "item_id"))
    return [
        _JudgeRunKey(release, model, item_id, judge, replicate)
        for model, item_id in zip(*columns, strict=True)
        for judge in judges
        for replicate in range(settings.replicates)
    ]


def _add(
    results: ModelResults, made_by: dict[str, object], item_id: str, replies: list[_JudgeReply]
) -> None:
    """Add the rows of one item's judgments, and of the failed ones."""
    for reply in replies:
        trial, turn, part = reply.place
        where = {"item_id": item_id, "trial": trial, "turn": turn, "call_key": reply.call_key}
        results.n_turns += 1
        if reply.judgment is None:
            assert reply.loss is not None
            reason, detail = reply.loss
            results.n_lost += 1
            results.fail({**where, "reason": reason, "detail": detail})
            continue
        results.add(
            "evaluate.judgments",
            {
                **where,
                **made_by,
                "part": part,
                "prompt_version": reply.prompt_version,
                "answer_call_key": reply.answer_call_key,
                "scores": list(reply.judgment.scores.items()),
                "score": reply.judgment.score,
                "explanation": reply.judgment.explanation,
            },
        )
