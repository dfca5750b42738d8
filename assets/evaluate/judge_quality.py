"""Reliability of LLM judges: agreement with people and other judges, length bias, score distribution
and variance components.
"""

from collections.abc import Sequence
from itertools import combinations, groupby
from typing import cast

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_EVALUATED
from assets.common.isolation import Isolation
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.human_scores import human_scores, imported_scores
from assets.evaluate.observations import observations
from assets.evaluate.observed import JudgeObservations, ScoringSettings, answer_lengths, slices
from assets.evaluate.score_queue import score_queue
from assets.review import decisions, ratings_by_people
from methods.agreement.measures import LABELS_OF_PAIR, SCORES_OF_PAIR, TEN_POINTS
from methods.benchmarks import Benchmarks
from methods.evaluation.judge_quality import (
    CRITIC,
    EXTERNAL,
    INTERNAL,
    AnswerKey,
    JudgeScale,
    ReferenceMeasures,
    judge_rows,
    pair_rows,
    variance_rows,
)
from methods.evaluation.judging import RULE
from methods.evaluation.metrics.observations import of_models
from methods.evaluation.verdicts import MODEL_FIRST, MODEL_SECOND, ORDERS, Winner, verdict_share
from methods.markdown import code, table
from methods.review.ratings import PAIR, SCORE, agreed_labels, mean_by_item
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

People = dict[AnswerKey, dict[str, float]]

NO_JUDGE = "No model has judged an answer: what is scored by rule has no judge to ask about."
MEASURES = ("mean", "ceiling_rate", "length_correlation", "replicate_variance")
"""Measures of a single judge in the run's metadata."""
BY_LABEL = (("answer", "mae"), ("answer", "spearman"))
"""Unit and measure of the table of agreement by label."""
UNITS = ("answer", "item", "model")
Cells = dict[tuple[str, ...], dict[str, str]]
"""Lines of a Markdown table: the cells that name the line -> its figures by column."""


class JudgeQualitySettings(ScoringSettings):
    """Settings of judge quality: labels, critics and resampling."""

    RETIRED = frozenset()

    split_by: str | None = Field(
        None,
        description="Label that agreement with people is split by; none: the benchmark's last ability.",
    )
    critics: list[str] = Field(
        [],
        description="Judges that were trained on evaluate.critic_pairs: people agree with them on the "
        "pairs for testing alone.",
    )
    seed: int = Field(0, description="Seed of the resampling.")
    n_resamples: int = Field(
        200,
        ge=100,
        description="Resamples behind each interval; those of agreement take about 6 ms each.",
    )


@analysis(
    "judge_quality",
    {
        **dict.fromkeys(
            (*SCORES_OF_PAIR, *TEN_POINTS, *LABELS_OF_PAIR),
            "agreement with `other`, over each `unit`",
        ),
        "mean": "of the scores; with a `subject`, of this model's",
        "standard_deviation": "of the scores",
        "ceiling_rate": "share of the highest score",
        "floor_rate": "share of the lowest score",
        "length_correlation": "Spearman's rho of score and words of the answer",
        "length_slope": "points for each unit of log length",
        "length_controlled_score": "score of a model at the mean length",
        "replicate_variance": "variance of an answer's scores when it is judged again",
        "variance_share_item": "of the variance, what is of the answers",
        "variance_share_judge": "what is of the judges' strictness",
        "variance_share_interaction": "what is of their disagreement on answers",
        "variance_share_replicate": "what is noise",
    },
    kinds={"scipy"},
    deps=[observations, score_queue, decisions, human_scores],
    automation_condition=WHEN_EVALUATED,
)
def judge_quality(
    config: JudgeQualitySettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
    benchmarks: dg.ResourceParam[Benchmarks],
) -> AnalysisResult:
    """Agreement, distribution, length, replicates and shares of variance of each judge's scores.

    - Agreement with people or another judge: a judge may err on single answers (`answer`) and still
      rank the models correctly (`model`). Judges that agree with each other may all be wrong, so
      agreement with people counts most. It is also given by label and by the splits of a critic's
      pairs. For a judge that was trained on pairs (`critics`), only its test pairs count.
    - On a scale of 1 to 10: how often both scores are in the same band of AlignMMBench
      (`fuzzy_accuracy`, `strict_accuracy`), and `quadratic_kappa`, which is low for a judge that is
      always stricter.
    - Verdicts, on a scale of 0 and 1: how often both have the same winner (`raw`), and `cohen_kappa`.
      Each order of a pair is one verdict of the judge.
    - `ceiling_rate` over 0.15: the judge cannot tell the best models apart.
    - `length_correlation` well above 0: longer answers score higher, deservedly or not.
      `length_controlled_score` compares models at the same length. If their order changes, the order
      was due to length.
    - `replicate_variance`: how much the judge contradicts itself.
    - Shares of variance: `variance_share_item` is due to differences of answers, as it should be;
      `variance_share_judge` to strictness, which changes no order; `variance_share_interaction` to
      disagreement on answers; `variance_share_replicate` to noise that more replicates average out.
    """
    isolation = Isolation("evaluate.judge_quality")
    people = _people(warehouse, review_store)
    splits = _splits(warehouse)
    rows = []
    for release_id, of_release in groupby(
        slices(warehouse, benchmarks, config.panel, isolation), key=lambda slice_: slice_.release_id
    ):
        with isolation.release(release_id):
            by_origin = {
                INTERNAL: people.get(release_id, {}),
                EXTERNAL: imported_scores(warehouse, release_id),
            }
            lengths = answer_lengths(warehouse, release_id)
            beside = ReferenceMeasures(lengths, by_origin, splits.get(release_id, {}))
            for slice_ in of_release:
                if slice_.judge != RULE:
                    rows += _rows(slice_, beside, config)
    shown: Row = {**_main_figures(rows, benchmarks)} if rows else {"note": NO_JUDGE}
    if unknown := sorted(set(config.critics) - {row["judge"] for row in rows}):
        shown["critics that have judged nothing"] = unknown
    return AnalysisResult(rows, shown, isolation)


def _rows(
    judge: JudgeObservations, beside: ReferenceMeasures, settings: JudgeQualitySettings
) -> list[Row]:
    """Compute the rows of one judge, or of a panel of judges."""
    scale = JudgeScale(judge.benchmark.dimensions, *judge.benchmark.score_range)
    resampling = {"seed": settings.seed, "n_resamples": settings.n_resamples}
    split_by = settings.split_by or next(reversed(judge.benchmark.abilities), None)
    members = judge.members or [judge]
    of_judge = judge_rows(
        scale,
        # Any judge tells apart what calibrates models and it.
        of_models(judge.observed),
        beside,
        split_by=split_by,
        is_critic=any(member.judge in settings.critics for member in members),
        **resampling,
    )
    shares = variance_rows(scale, [of_models(member.observed) for member in members])
    rows = [*rows_of(of_judge, judge.columns), *rows_of(shares, judge.columns)]
    for first, second in combinations(members, 2):
        pairs = pair_rows(
            scale,
            of_models(first.observed),
            of_models(second.observed),
            second.judge,
            **resampling,
        )
        rows += rows_of(pairs, first.columns)
    return rows


def _splits(warehouse: Warehouse) -> dict[str, dict[AnswerKey, str]]:
    """Read the split of each answer that is in a critic's training pairs, by release."""
    splits: dict[str, dict[AnswerKey, str]] = {}
    for row in warehouse.read("evaluate/critic_pairs").to_pylist():
        key = AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"])
        splits.setdefault(row["release_id"], {})[key] = row["split"]
    return splits


def _people(warehouse: Warehouse, review_store: ReviewStore) -> dict[str, People]:
    """Return people's mean scores, or verdicts, by release, answer and dimension."""
    ratings = ratings_by_people(review_store, SCORE)
    means = {
        dimension: mean_by_item([rating for rating in ratings if rating.dimension == dimension])
        for dimension in sorted({rating.dimension for rating in ratings})
    }
    by_release: dict[str, People] = {}
    for row in warehouse.read("evaluate/queued_answers").to_pylist():
        key = AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"])
        scores_of = {
            name: by_item[row["queue_id"]]
            for name, by_item in means.items()
            if row["queue_id"] in by_item
        }
        by_release.setdefault(row["release_id"], {})[key] = scores_of
    winners = agreed_labels(ratings_by_people(review_store, PAIR))
    for row in warehouse.read("evaluate/queued_pairs", {"orders": list(ORDERS)}).to_pylist():
        key = AnswerKey(row["model"], row["item_id"], row["trial"], row["turn"])
        if winner := winners.get(row["queue_id"]):
            order = MODEL_FIRST if row["place"] == "A" else MODEL_SECOND
            share = verdict_share(cast(Winner, winner), order)
            by_release.setdefault(row["release_id"], {})[key] = {row["dimension"]: share}
    return by_release


def _main_figures(rows: Sequence[Row], benchmarks: Benchmarks) -> dict[str, dg.MetadataValue]:
    """Make Markdown tables for the overall score: measures of each judge; agreement as Spearman's rho
    by unit; bands and kappa for scales of 1 to 10; agreement by label.
    """
    alone: Cells = {}
    compared: Cells = {}
    banded: Cells = {}
    by_label: Cells = {}
    for row in rows:
        if row["metric"] != benchmarks[row["benchmark"]].dimensions[-1] or row["subject"]:
            continue
        named = row["release_id"], row["judge"], row["judge_version"]
        other = row["other"]
        if row["subset_value"]:
            if (row["unit"], row["measure"]) in BY_LABEL:
                value = row["subset_value"]
                value = f"{CRITIC} {value}" if row["subset_label"] == CRITIC else value
                cells = by_label.setdefault((*named, other, value), {"n": str(row["n"])})
                cells[row["measure"]] = _figure(row)
        elif row["measure"] in MEASURES:
            alone.setdefault(named, {})[row["measure"]] = _figure(row)
        elif row["measure"] == "spearman":
            compared.setdefault((*named, other), {})[row["unit"]] = _figure(row)
        elif row["measure"] in TEN_POINTS and row["unit"] == "answer":
            banded.setdefault((*named, other), {})[row["measure"]] = _figure(row)
    heads = ("release", "judge", "version")
    shown = {
        "judges": _markdown(heads, MEASURES, alone),
        "agreement": _markdown((*heads, "with"), UNITS, compared),
    }
    if banded:
        shown["agreement on answers, 1 to 10"] = _markdown((*heads, "with"), [*TEN_POINTS], banded)
    if by_label:
        figures = ["n", *(measure for _, measure in BY_LABEL)]
        shown["agreement by label"] = _markdown((*heads, "with", "label"), figures, by_label)
    return shown


def _markdown(names: Sequence[str], figures: Sequence[str], cells: Cells) -> dg.MetadataValue:
    lines = [
        [*map(code, named), *(values[figure] for figure in figures)]
        for named, values in cells.items()
    ]
    heads = [name.replace("_", " ") for name in (*names, *figures)]
    return dg.MetadataValue.md("\n".join(table(heads, lines)) if lines else "none")


def _figure(row: Row) -> str:
    """Format the value with its interval; a dash stands for no value."""
    if row["value"] is None:
        return "–"
    interval = "" if row["ci_low"] is None else f" ({row['ci_low']:.2f} to {row['ci_high']:.2f})"
    return f"{row['value']:.2f}{interval}"
