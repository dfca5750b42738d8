"""Model inference: the answers of every candidate to every item of the current releases."""

from collections import Counter
from collections.abc import Sequence
from itertools import filterfalse
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.automation import SHARDS, when_changed
from assets.common.isolation import Isolation
from assets.common.progress import show_progress
from assets.common.settings import read_used_settings
from assets.common.tables import table_asset
from assets.evaluate.archive import archived_models, hide_former
from assets.evaluate.candidates import (
    Candidate,
    ImportedPredictions,
    LetterBaselineOptions,
    candidates_of,
    exclusion_reason,
)
from assets.evaluate.inference import PARAMS, AnswerRun, ItemAnswers, answer_item
from assets.evaluate.item_limit import ItemLimit
from assets.evaluate.predictions import (
    imported_hashes,
    imported_releases,
    imported_texts,
    predictions,
)
from assets.evaluate.released import EvaluatedRelease, evaluated_releases, items_of, releases_named
from assets.evaluate.results import EvaluationSettings, ResultSet, write_results
from assets.release import releases
from methods.benchmarks import Benchmarks
from methods.evaluation.asking import NO_ANSWER, ContextPolicy
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import BASELINE, is_file, model_of, models_behind
from methods.evaluation.metrics import BY_LABEL
from methods.evaluation.predictions import PredictionError
from methods.naming import nearest
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.settings.prompts import prompt
from resources.warehouse import Warehouse

WHEN_RELEASED = when_changed(not_awaited=SHARDS | dg.AssetSelection.assets(predictions.key))
"""Runs after new releases and imported predictions. It does not wait for predictions, as most
workspaces have none.
"""


class AnswersSettings(EvaluationSettings):
    """Settings of inference: models, releases, sample and context policy."""

    models: list[str] | None = Field(
        None,
        description="Names as in a profile's `evaluate`; null: those that the profile evaluates.",
    )
    context_policy: ContextPolicy = Field(
        "fail",
        description="If a dialogue is too long for a model: its turn fails; truncate, its oldest turns "
        "are left out with their images; tile, its images are sent as one; sample, images are left out "
        "at random. Named in scores.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        description="Items of each release that models are asked about: a sample by ability. Judges, "
        "extractors and comparisons keep to it. Scores are marked as partial until a run without a "
        "limit asks the rest; items stay whose calls are all in the ledger. null: all items.",
    )
    seed: int = Field(
        0,
        description="Seed of the letters that baseline:random says, and of the sample of `limit`.",
    )
    also_on: list[str] = Field(
        [], description="Ids of further releases to ask on, such as earlier ones."
    )


@table_asset(
    "evaluate.answers",
    side_tables=[
        *("evaluate.archive", "evaluate.extractions", "evaluate.failed", "evaluate.missing"),
        *("evaluate.shown_answers", "evaluate.shown_failed", "evaluate.shown_missing"),
    ],
    kinds={"openai"},
    deps=[releases, predictions],
    automation_condition=WHEN_RELEASED,
)
def answers(
    context: dg.AssetExecutionContext,
    config: AnswersSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """The answer of each model to every request of the benchmark on each item.

    If too many turns of a model fail, for example because its server is down or refuses its key, the
    model keeps its earlier rows, the other models continue, and `evaluate.missing` names it. Refusals
    and invalid answers are kept and count in the score. Models and judges that the profile no longer
    names are removed from the leaderboards (`evaluate.archive`).
    """
    isolation = Isolation("evaluate.answers")
    models = llm.profile.evaluate if config.models is None else config.models
    runs = []
    not_run = []
    limit = ItemLimit(warehouse, config.limit, config.seed)
    # A name that is not in models.yaml is a wrong setting: it stops the step, not a single release.
    for asks in filter(None, map(model_of, models)):
        llm.registry.model(asks)
    releases_asked = evaluated_releases(warehouse, benchmarks, config.also_on)
    hide_former(warehouse, llm.profile, models)
    for release in releases_asked:
        with isolation.release(release.release_id):
            benchmark = release.benchmark
            for name in (*benchmark.question_prompts, *benchmark.extractor_prompts):
                prompt(name)
            items = items_of(warehouse, release.release_id)
            letters = LetterBaselineOptions(config.seed, label_of(release.benchmark))
            archived = archived_models(warehouse, release.release_id)
            why = {
                name: "it is archived"
                if name in archived
                else exclusion_reason(name, items, letters)
                for name in filterfalse(is_file, models)
            }
            not_run += [
                f"{name} on {release.release_id}: {reason}"
                for name, reason in why.items()
                if reason
            ]
            names = [name for name, reason in why.items() if reason is None]
            candidates = candidates_of(names, llm.registry, items, PARAMS, letters)
            # Without a limit no item is excluded, whether it was answered or not.
            answered_items = (
                _answered_items(warehouse, release.release_id) if config.limit is not None else ()
            )
            runs += [
                (release, AnswerRun(candidate, item))
                for item in items
                for candidate in candidates
                if (candidate.name, item.item_id) in answered_items
                or not limit.excludes(release, item.item_id)
            ]
    imported = imported_hashes(warehouse)
    runs += _imported(warehouse, benchmarks, config.models, isolation)

    async def converse(calls: ModelCalls, place: int) -> ItemAnswers | None:
        release, run = runs[place]
        if release.release_id in isolation.lost:
            return None
        with isolation.release(release.release_id, asking=True):
            policy = _permitted(release.benchmark, config.context_policy)
            answering = answer_item(calls, release.benchmark, run, llm.profile.extractor, policy)
            return await limit.ask(calls, release, run.item.item_id, answering)
        return None

    conversations, usage = llm.map(
        "evaluate.answers",
        range(len(runs)),
        converse,
        show_progress(context),
        apart=lambda place: runs[place][1].candidate.asks,
        candidates=lambda place: _read_by_extractor(runs[place][1].candidate),
    )
    results = ResultSet("evaluate.answers", "evaluate.extractions")
    # Predictions that were removed or replaced during this run are left to the next run.
    before, imported = imported, imported_hashes(warehouse)
    finished_runs = [
        (release, run, answered)
        for (release, run), answered in zip(runs, conversations, strict=True)
        if answered is not None
        and release.release_id not in isolation.lost
        and before.get(place := (release.release_id, run.candidate.name)) == imported.get(place)
    ]
    for release, run, answered in finished_runs:
        item_key = {"item_id": run.item.item_id}
        of_model = results.results_for(release, run.candidate.name)
        of_model.n_turns += len(answered.answers)
        of_model.n_lost += answered.n_lost
        for row in answered.answers:
            of_model.add(
                "evaluate.answers", {**item_key, "provider": run.candidate.provider, **row}
            )
        for row in answered.extractions:
            of_model.add("evaluate.extractions", {**item_key, **row})
        for row in answered.failed:
            of_model.fail({**item_key, **row})
    statuses = Counter(row["status"] for *_, answered in finished_runs for row in answered.answers)
    counted: dict[str, Any] = {status: statuses[status] for status in ("refused", *NO_ANSWER)}
    if not_run:
        counted["not run"] = "; ".join(not_run)
    if config.context_policy != "fail":
        left_out = sum(
            bool(row["turns_left_out"] or row["images_left_out"])
            for *_, answered in finished_runs
            for row in answered.answers
        )
        counted |= {
            "shortened": left_out,
            "context policy": _policy_sentence(runs, config.context_policy),
        }
    return isolation.finish(
        warehouse,
        write_results(
            warehouse,
            results,
            config.max_failed_share,
            usage,
            counted,
            only_these=config.models is not None,
        ),
    )


def item_limit_of_answers(instance: dg.DagsterInstance, warehouse: Warehouse) -> ItemLimit:
    """Return the limit of items that the answers were asked with. Later stages keep to it.

    Args:
        instance: Dagster's instance.
        warehouse: The tables.

    Returns:
        The limit.
    """
    settings = read_used_settings(instance, "evaluate.answers", AnswersSettings)
    return ItemLimit(warehouse, settings.limit, settings.seed)


def _read_by_extractor(candidate: Candidate) -> frozenset[str]:
    """Return the model whose answers an extractor may read; no baseline is read by one."""
    return frozenset() if candidate.provider == BASELINE else models_behind(candidate.name)


def _answered_items(warehouse: Warehouse, release_id: str) -> set[tuple[str, str]]:
    """Return the models and items with answers on a release."""
    rows = warehouse.read("evaluate/answered_items_of", {"release_id": release_id}).to_pylist()
    return {(row["model"], row["item_id"]) for row in rows}


def label_of(benchmark: Benchmark) -> str | None:
    """Return the label whose values have equal weight in the ranking score, if there is one."""
    (_, by, label) = benchmark.metrics[0].aggregation.partition(BY_LABEL)
    return label if by else None


def _imported(
    warehouse: Warehouse, benchmarks: Benchmarks, models: Sequence[str] | None, isolation: Isolation
) -> list[tuple[EvaluatedRelease, AnswerRun]]:
    """Return runs for the imported predictions on every release, current or not.

    If `models` is set, only those that it names are returned. Raises PredictionError for a name
    without predictions.
    """
    runs: list[tuple[EvaluatedRelease, AnswerRun]] = []
    wanted = None if models is None else {name for name in models if is_file(name)}
    names = set()
    for release in releases_named(warehouse, benchmarks, imported_releases(warehouse)):
        with isolation.release(release.release_id):
            items = items_of(warehouse, release.release_id)
            for name, texts in imported_texts(warehouse, release.release_id).items():
                names.add(name)
                if wanted is None or name in wanted:
                    candidate = ImportedPredictions(name, texts)
                    runs += [(release, AnswerRun(candidate, item)) for item in items]
    if unknown := sorted((wanted or set()) - names):
        raise PredictionError(
            f"There are no predictions of {unknown[0]}; {nearest(unknown[0], names)}: import some, or "
            "leave it out."
        )
    return runs


def _permitted(benchmark: Benchmark, policy: ContextPolicy) -> ContextPolicy:
    """Return the policy, or `fail` if the benchmark does not permit it."""
    return policy if policy in benchmark.context_policies else "fail"


def _policy_sentence(
    runs: Sequence[tuple[EvaluatedRelease, AnswerRun]], policy: ContextPolicy
) -> str:
    """Say for the metadata which context policy each benchmark was asked with."""
    policies = {
        release.benchmark.name: _permitted(release.benchmark, policy) for release, _ in runs
    }
    return ", ".join(
        f"{name}: {permitted}"
        if permitted == policy
        else f"{name}: {permitted}, it does not permit {policy}"
        for name, permitted in policies.items()
    )
