"""Extraction quality: agreement and effect of rules and models that extract letters from answers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import dagster as dg
from pydantic import Field

from assets.common.automation import WHEN_EVALUATED
from assets.common.isolation import Isolation
from assets.common.settings import AssetConfig
from assets.evaluate.answer_extraction import NO_CHOICES, answered_choices, readings_on
from assets.evaluate.extraction_queue import extraction_queue, letters_by_people
from assets.evaluate.findings import AnalysisResult, Row, analysis, rows_of
from assets.evaluate.observations import observations
from assets.evaluate.observed import slices_of
from assets.evaluate.released import EvaluatedRelease
from assets.evaluate.second_readings import second_readings
from assets.review import decisions
from methods.benchmarks import Benchmarks
from methods.choice.extraction_quality import reading_findings
from methods.evaluation.judging import RULE
from methods.evaluation.metrics.observations import joined
from methods.markdown import code, table
from resources.llm.registry import Profile
from resources.review.store import ReviewStore
from resources.warehouse import Warehouse

if TYPE_CHECKING:
    import pandas as pd

SHOWN = (("read", "rule"), ("read", "compat_rule"), ("read", "extractor"), ("none", "strict"))
"""(measure, extractor) of the shares in the metadata's table."""
SHARES = ("by rule", "by VLMEvalKit's rules", "by extractor", "no choice")


class ExtractionQualitySettings(AssetConfig):
    """Settings of the resampling; the same extractions give the same numbers."""

    seed: int = Field(0, description="Seed of the resampling.")
    n_resamples: int = Field(1_000, ge=100, description="Resamples behind each interval.")


@analysis(
    "extraction_quality",
    {
        "read": "share of the answers that the reader reads, no choice included",
        "none": "share that it reads as naming no choice",
        "unread": "share that has no reading; by `reason`, too",
        "named": "share of the answers of a pass (`unit`) that name the letter `subset_value`",
        "raw": "share of answers in which the reader and `other` read the same",
        "cohen_kappa": "their agreement beyond chance",
        "score": "metric under this reader",
        "difference": "score of the reader less that of `other`, on the units that both have",
    },
    kinds={"scipy"},
    deps=[observations, second_readings, extraction_queue, decisions],
    automation_condition=WHEN_EVALUATED,
)
def extraction_quality(
    config: ExtractionQualitySettings,
    warehouse: dg.ResourceParam[Warehouse],
    review_store: dg.ResourceParam[ReviewStore],
    benchmarks: dg.ResourceParam[Benchmarks],
    profile: dg.ResourceParam[Profile],
) -> AnalysisResult:
    """Shares of letters that rules and the model extract, their agreement, and the effect on scores.

    The column `judge` names the extractor: `rule`, `extractor` (the profile's model), `strict` (the
    rule, or else the model; scores use it), `compat_rule` and `compat` (VLMEvalKit's), or another
    model.

    - `read` of `rule` is MMBench's match rate. `unread` has the share of failed extractions by reason.
    - `raw` and `cohen_kappa`: agreement of rules and model on answers that both read, and of each with
      people.
    - `difference` of `strict` and `rule`: the effect of the model on scores. `difference` of `compat`
      and `strict`: the error of numbers published with VLMEvalKit's rules. The `difference` of another
      model is to `strict`.
    """
    isolation = Isolation("evaluate.extraction_quality")
    people, n_apart = letters_by_people(review_store)
    rows: list[Row] = []
    for release in answered_choices(warehouse, benchmarks):
        with isolation.release(release.release_id):
            figures = reading_findings(
                release.benchmark.metrics,
                [reading.answer for reading in readings_on(warehouse, release)],
                _observed(warehouse, release),
                people,
                extractor=profile.extractor,
                seed=config.seed,
                n_resamples=config.n_resamples,
            )
            rows += rows_of(figures, release.columns, config.seed)
    shown = {"shares": _shares(rows)} if rows else {"note": NO_CHOICES}
    counted = {"read by people": len(people), "people disagree": n_apart}
    return AnalysisResult(rows, {**counted, **shown}, isolation)


def _observed(warehouse: Warehouse, release: EvaluatedRelease) -> "pd.DataFrame":
    """The observations by rules."""
    slices = slices_of(warehouse, release.benchmark, release.release_id, "mean")
    return joined([slice_.observed for slice_ in slices if slice_.judge == RULE])


def _shares(rows: Sequence[Row]) -> dg.MetadataValue:
    """Make a Markdown table of the shares in `SHOWN`, by release and model."""
    values = {
        (row["release_id"], row["subject"], row["measure"], row["judge"]): row["value"]
        for row in rows
        if not row["subset_value"] and not row["other"] and not row["metric"]
    }
    lines = [
        [code(release_id), code(model) or "all models"]
        + [f"{values[release_id, model, *shown]:.1%}" for shown in SHOWN]
        for release_id, model in dict.fromkeys(key[:2] for key in values)
    ]
    return dg.MetadataValue.md("\n".join(table(("release", "model", *SHARES), lines)))
