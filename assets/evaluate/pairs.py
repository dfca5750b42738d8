"""Pairwise comparisons by LLM judges: which of two models' answers each judge prefers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import dagster as dg
from pydantic import Field

from assets.common.drops import exceeds_drop_limit, reasons
from assets.common.progress import show_progress
from assets.common.tables import report, rows_to_arrow, table_asset
from assets.evaluate.answers import answers, item_limit_of_answers
from assets.evaluate.judge import JudgeImages, with_images
from assets.evaluate.pair_rounds import PairwiseEvaluation, ask_in_rounds
from assets.evaluate.released import EvaluatedRelease, items_of, releases_named, unknown_release
from assets.evaluate.results import EvaluationSettings
from assets.evaluate.transcripts import transcripts_of
from assets.release import releases
from methods.benchmarks import Benchmarks
from methods.evaluation.asking import PLAIN
from methods.evaluation.candidates import is_model
from methods.markdown import code, table
from methods.pairwise.comparing import (
    COMPARE_PROMPT,
    COMPARE_VERSION,
    REFERENCE,
    WITHOUT_REFERENCE,
    references_as_answers,
    units_of,
)
from methods.pairwise.design import Design, against, ask_adaptively, ask_all, every_pair
from resources.llm.gateway import Gateway
from resources.settings.prompts import prompt
from resources.warehouse import TableWrite, Warehouse

TABLE, DESIGNS = "evaluate.pairs", "evaluate.pair_designs"
ALL = "all"
OFF = (
    "No release is named, so that no answers were compared: give ids of releases as "
    "evaluate.pairs.releases in settings.yaml."
)


class PairsSettings(EvaluationSettings):
    """Settings of pairwise comparisons: releases, models, design, and the judge's input."""

    releases: list[str] = Field(
        [],
        description="Ids of releases, as in release.releases, whose answers are compared; none: "
        "nothing is asked.",
    )
    models: list[str] | None = Field(
        None, description="Candidates that are compared; null: every model with answers."
    )
    opponents: str = Field(
        ALL,
        description="all: every pair; or the candidate that each model is compared with: "
        "baseline:reference, the release's references, or a model.",
    )
    adaptive: bool = Field(
        True,
        description="Of every pair, ask only those that still decide the order; of one opponent all.",
    )
    budget: int | None = Field(
        None,
        ge=2,
        description="Most calls for each release and judge, two a comparison; null: any.",
    )
    least: int = Field(
        4, ge=1, description="Turns that the adaptive design asks of each open pair in a round."
    )
    reference: bool = Field(
        True, description="The judge is shown the reference answer, unless it is one of the two."
    )
    images: JudgeImages = Field(
        "shown", description="Images that a judge is sent: those shown so far, all, or none."
    )
    seed: int = Field(0, description="Seed of the order in which turns are taken.")


@table_asset(
    TABLE,
    side_tables=[DESIGNS, "evaluate.shown_pairs"],
    kinds={"openai"},
    deps=[answers, releases],
)
def pairs(
    context: dg.AssetExecutionContext,
    config: PairsSettings,
    warehouse: dg.ResourceParam[Warehouse],
    llm: dg.ResourceParam[Gateway],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> dg.MaterializeResult:
    """The answer that each judge prefers of two answers to the same turn; one row for each order.

    A comparison costs two calls, so only releases that the settings name are compared. The adaptive
    design asks in rounds: first a few turns of every pair, then neighbours in the ranking, until it is
    resolved or the budget is used. If a model gave no answer, the judge is not asked. A comparison
    without a verdict is counted. A run that was cut off repeats no call, as the ledger has them. Rows
    of other releases and judges stay.
    """
    if not config.releases:
        return report(rows_to_arrow(TABLE, []), {"note": OFF})
    contests = [
        contest
        for release in _named(warehouse, benchmarks, config.releases)
        for contest in _contests(warehouse, release, llm.profile.judges, config)
    ]
    limit = item_limit_of_answers(context.instance, warehouse)
    usage = ask_in_rounds(llm, TABLE, contests, show_progress(context), limit)
    complete = [
        contest
        for contest in contests
        if not exceeds_drop_limit(contest.n_lost, contest.outcome.n_calls, config.max_failed_share)
    ]
    lost = Counter(row["reason"] for contest in contests for row in contest.rows if row["reason"])
    if not complete:
        sentence = (
            f"{TABLE} keeps its earlier rows: of the comparisons {lost.total()} had no verdict, and at "
            f"most {config.max_failed_share:.0%} may be lost."
        )
        raise dg.Failure(
            " ".join(filter(None, (sentence, usage.advice))),
            metadata=reasons(lost),
            allow_retries=False,
        )
    warehouse.replace_all([write for contest in complete for write in _writes(contest, config)])
    statuses = Counter(row["status"] for contest in complete for row in contest.rows)
    counted: dict[str, Any] = {
        **{status: statuses[status] for status in sorted(statuses)},
        "failed": lost.total(),
        **reasons(lost),
        "designs": dg.MetadataValue.md("\n".join(_designs(contests, complete))),
    }
    table = rows_to_arrow(TABLE, [row for contest in complete for row in contest.rows])
    return report(table, counted, usage=usage)


def pairs_version(*, reference: bool, images: JudgeImages) -> str:
    """Return the version of comparisons: of the prompt, and of the judge's input.

    Args:
        reference: Whether the judge sees references.
        images: The images that the judge sees.

    Returns:
        The version.

    Raises:
        PromptError: The prompt cannot be read.
    """
    variants = () if reference else (WITHOUT_REFERENCE,)
    return with_images(
        " ".join([prompt(COMPARE_PROMPT).version, COMPARE_VERSION, *variants]), images
    )


def _named(
    warehouse: Warehouse, benchmarks: Benchmarks, release_ids: Sequence[str]
) -> list[EvaluatedRelease]:
    named = releases_named(warehouse, benchmarks, release_ids)
    missing = sorted(set(release_ids) - {release.release_id for release in named})
    if missing:
        raise unknown_release(warehouse, benchmarks, missing[0])
    return named


def _contests(
    warehouse: Warehouse, release: EvaluatedRelease, judges: Sequence[str], settings: PairsSettings
) -> list[PairwiseEvaluation]:
    """Create a contest of the release's models for each judge.

    Raises dg.Failure if a model has no answers, or if there are fewer than two models.
    """
    items = {item.item_id: item for item in items_of(warehouse, release.release_id)}
    transcripts = {
        key: transcript
        for key, transcript in transcripts_of(warehouse, release.release_id).items()
        if any(trial == PLAIN for trial, _ in transcript.answers)
    }
    transcripts |= {(REFERENCE, key): references_as_answers(item) for key, item in items.items()}
    answered = {model for model, _ in transcripts}
    wanted = settings.models or sorted(filter(is_model, answered))
    opponents = [] if settings.opponents == ALL else [settings.opponents]
    models = sorted({*wanted, *opponents})
    unknown = [name for name in models if name not in answered]
    if unknown:
        raise dg.Failure(
            f"{unknown[0]} has no answers on {release.release_id} to compare: let evaluate.answers ask "
            "it, or leave it out of evaluate.pairs.",
            allow_retries=False,
        )
    units = units_of(items.values())
    if len(models) < 2 or not units:
        raise dg.Failure(
            f"{release.release_id} has plain answers of {len(models)} of the two models that a "
            "comparison takes: ask more models, or take it out of evaluate.pairs.releases.",
            allow_retries=False,
        )

    budget, seed = settings.budget, settings.seed

    def design() -> Design:
        if opponents:
            pairs_asked = against(models, settings.opponents)
            return ask_all(pairs_asked, units, budget=budget, seed=seed)
        if settings.adaptive:
            return ask_adaptively(models, units, budget=budget, seed=seed, least=settings.least)
        return ask_all(every_pair(models), units, budget=budget, seed=seed)

    version = pairs_version(reference=settings.reference, images=settings.images)
    return [
        PairwiseEvaluation(
            release,
            judge,
            version,
            items,
            {key: of_item for key, of_item in transcripts.items() if key[0] in models},
            design(),
            models,
            len(units),
            settings.images,
            settings.reference,
        )
        for judge in judges
    ]


def _writes(evaluation: PairwiseEvaluation, settings: PairsSettings) -> list[TableWrite]:
    design = {
        **evaluation.named,
        "opponents": settings.opponents,
        "adaptive": settings.adaptive and settings.opponents == ALL,
        "budget": settings.budget,
        "seed": settings.seed,
        "n_models": len(evaluation.models),
        "n_units": evaluation.n_units,
        "n_rounds": evaluation.outcome.n_rounds,
        "n_calls": evaluation.outcome.n_calls,
        "n_calls_of_all": evaluation.outcome.n_calls_of_all,
        "why": evaluation.outcome.why,
    }
    slice_of = {"release_id": evaluation.release.release_id, "judge": evaluation.judge}
    return [
        TableWrite(TABLE, rows_to_arrow(TABLE, evaluation.rows), slice_of),
        TableWrite(DESIGNS, rows_to_arrow(DESIGNS, [design]), slice_of),
    ]


def _designs(
    contests: Sequence[PairwiseEvaluation], complete: Sequence[PairwiseEvaluation]
) -> list[str]:
    """Make a Markdown table of calls and rounds; it names contests that keep their earlier rows."""
    lines = [
        [
            code(contest.release.release_id),
            code(contest.judge),
            str(contest.outcome.n_calls),
            f"{contest.outcome.n_calls / contest.outcome.n_calls_of_all:.0%}",
            str(contest.outcome.n_rounds),
            contest.outcome.why
            if contest in complete
            else f"{contest.n_lost} verdicts lost: earlier rows stay",
        ]
        for contest in contests
    ]
    return table(("release", "judge", "calls", "of all", "rounds", "ended"), lines)
