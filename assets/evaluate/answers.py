"""Model inference: the answers of every candidate to every item of the current releases."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.automation import SHARDS, when_changed
from assets.common.isolation import Isolation
from assets.common.progress import show_progress
from assets.common.tables import table_asset
from assets.evaluate.archive import archived_models, hide_former
from assets.evaluate.candidates import (
    ImportedPredictions,
    LetterBaselineOptions,
    candidates_of,
    exclusion_reason,
)
from assets.evaluate.inference import (
    PARAMS,
    AnswerRun,
    ItemAnswers,
    answer_item,
    answer_version,
)
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
from methods.evaluation.candidates import is_file, model_of
from methods.evaluation.item_sample import stratified_sample
from methods.evaluation.items import Item
from methods.evaluation.metrics import BY_LABEL
from methods.evaluation.predictions import PredictionError
from methods.naming import nearest
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.request import ChatRequest
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
        description="Items of each release that models are asked about: a sample by ability. Scores "
        "are marked as partial until a run without a limit asks the rest; items that were answered "
        "before by the same model, server, parameters and prompt stay. null: all items.",
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
                for name in filter(is_asked, models)
            }
            not_run += [
                f"{name} on {release.release_id}: {reason}"
                for name, reason in why.items()
                if reason
            ]
            names = [name for name, reason in why.items() if reason is None]
            candidates = candidates_of(names, llm.registry, items, PARAMS, letters)
            wanted = _wanted(warehouse, release, items, config, llm)
            runs += [
                (release, AnswerRun(candidate, item))
                for item in items
                for candidate in candidates
                if wanted is None or item.item_id in wanted(candidate.name)
            ]
    imported = imported_hashes(warehouse)
    runs += _imported(warehouse, benchmarks, config.models, isolation)

    async def converse(calls: ModelCalls, place: int) -> ItemAnswers | None:
        release, run = runs[place]
        if release.release_id in isolation.lost:
            return None
        with isolation.release(release.release_id, asking=True):
            policy = _permitted(release.benchmark, config.context_policy)
            return await answer_item(calls, release.benchmark, run, llm.profile.extractor, policy)
        return None

    conversations, usage = llm.map(
        "evaluate.answers",
        range(len(runs)),
        converse,
        show_progress(context),
        apart=lambda place: runs[place][1].candidate.asks,
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


def _wanted(
    warehouse: Warehouse,
    release: EvaluatedRelease,
    items: Sequence[Item],
    config: AnswersSettings,
    llm: Gateway,
) -> Callable[[str], Set[str]] | None:
    """Return a function that gives the items to ask a candidate about, or None without a limit.

    These are the sample and the items that the candidate answered before, which cost nothing again.
    """
    if config.limit is None:
        return None
    sample = stratified_sample(items, config.limit, release.benchmark.abilities, config.seed)
    before = _free_again(warehouse, release, llm)
    return lambda name: sample | before.get(name, set())


def _free_again(
    warehouse: Warehouse, release: EvaluatedRelease, llm: Gateway
) -> dict[str, set[str]]:
    """Return the items that each candidate answered as it would be asked now.

    Another server, model, parameter or prompt is another request, which would be paid.
    """
    rows = warehouse.read("evaluate/answered_calls_of", {"release_id": release.release_id})
    answered = rows.to_pylist()
    keys = [row["call_key"] for row in answered if row["call_key"]]
    requests = {call.key: _without_item(call.request) for call in llm.ledger.calls(keys)}
    version = answer_version(release.benchmark)
    today: dict[str, dict[str, object]] = {}
    for name in {row["model"] for row in answered}:
        spec = llm.registry.models.get(model_of(name) or "")
        if spec:
            today[name] = _without_item(ChatRequest(name, (), version, PARAMS).canonical(spec))
    items: dict[str, set[str]] = {}
    changed: dict[str, set[str]] = {}
    for row in answered:
        key, name = row["call_key"], row["model"]
        is_paid = key and (key not in requests or requests[key] != today.get(name))
        (changed if is_paid else items).setdefault(name, set()).add(row["item_id"])
    return {name: found - changed.get(name, set()) for name, found in items.items()}


def _without_item(request: Mapping[str, object]) -> dict[str, object]:
    """Return the parts of a canonical request that do not depend on the item."""
    parts = ("provider", "endpoint", "model", "params", "prompt_version")
    return {part: request[part] for part in parts if part in request}


def label_of(benchmark: Benchmark) -> str | None:
    """Return the label whose values have equal weight in the ranking score, if there is one."""
    (_, by, label) = benchmark.metrics[0].aggregation.partition(BY_LABEL)
    return label if by else None


def is_asked(name: str) -> bool:
    """Tell whether a candidate comes from a profile. Imported predictions are not named there."""
    return not is_file(name)


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
