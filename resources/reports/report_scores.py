"""The scores of a release for the sections of a report, by judge, metric, form and model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from methods.evaluation.candidates import BASELINE, NO_IMAGES, OTHER_IMAGES, ablation_of, is_model
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.related import relations_to_judges
from methods.results.results_table import FLOOR, JudgeResults, MetricKey, by_judge, descriptions
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.report_input import LeaderboardInput, Row

IN_WORDS = {NO_IMAGES: "no images", OTHER_IMAGES: "images of another item"}
"""Image ablation -> what the model gets instead of its images."""


class DisplayedMetric(NamedTuple):
    """A metric as the page shows it. `inverse`: the metric falls if the mean of units rises.
    `refusals_are_right`: the metric is an upper bound that counts refused answers as correct."""

    name: str
    aggregation: str
    place: int
    scale: Scale
    higher_is_better: bool
    inverse: bool
    refusals_are_right: bool = False

    @property
    def averaged(self) -> str:
        """The aggregation in words."""
        how, by, label = self.aggregation.partition(" by ")
        return f"{how.capitalize()} mean{f' by {label}' if by else ''}"

    @property
    def key(self) -> MetricKey:
        """The key of the metric within its benchmark."""
        return MetricKey(self.name, self.aggregation)


class CandidateLabel(NamedTuple):
    """A candidate; `label` is its name with its settings, `tags` are short remarks on it."""

    name: str
    tags: tuple[str, ...]
    label: str

    @property
    def is_model(self) -> bool:
        """Whether it is a model with its images, which may have a rank."""
        return is_model(self.name)

    @property
    def ablation(self) -> str | None:
        """The image ablation of the candidate; None if it gets its images."""
        return ablation_of(self.name)

    @property
    def is_baseline(self) -> bool:
        """Whether it is a baseline, which answers by rule."""
        return not self.is_model and self.ablation is None


@dataclass(frozen=True, kw_only=True)
class ScoresByJudge(JudgeResults):
    """The results of one judge as a page shows them: metrics with their scales, models with remarks."""

    shown_metrics: Sequence[DisplayedMetric]
    candidates: Sequence[CandidateLabel]

    @property
    def title(self) -> str:
        """The name of the judge on a page with several judges."""
        if self.judge == PANEL:
            return "Panel"
        return "Rule" if self.judge == RULE else self.judge

    def estimate(self, model: str, metric: DisplayedMetric, form: str = FLOOR) -> ReportEstimate:
        """Return a model's score on all items.

        Args:
            model: The model.
            metric: The metric.
            form: How missing judgments count: `floor`, `judged`, `common` or all items.
        """
        row = self.row(model, metric.key, form)
        return estimate_of(row, metric.scale) if row else ReportEstimate(scale=metric.scale)


def estimate_of(row: Row, scale: Scale) -> ReportEstimate:
    """Return the score of a row with its interval.

    Args:
        row: The row.
        scale: The scale of the metric.
    """
    return ReportEstimate(row["value"], row["ci_low"], row["ci_high"], scale, row.get("n_clusters"))


def judges_of(data: LeaderboardInput) -> list[ScoresByJudge]:
    """Return the scores by judge and version: the profile's judges first, the panel last.

    Of the versions of a judge, the version with the most judgments is first.
    """
    benchmark = data["benchmark"]
    results = by_judge(
        data["scores"],
        benchmark["label_metrics"] if benchmark else None,
        {row["name"]: row["decimals"] for row in benchmark["metrics"]} if benchmark else None,
        differences=data["comparisons"],
        by_ability=data["ability_comparisons"],
        groups=data["groups"],
        training=data["training"],
    )
    places = {name: place for place, name in enumerate(data["judges"])}

    def place_of(results: JudgeResults) -> tuple[bool, int, str, int]:
        n_judged = sum(row["n_judged"] for row in results.scores)
        return (
            results.judge == PANEL,
            places.get(results.judge, len(places)),
            results.judge,
            -n_judged,
        )

    results.sort(key=place_of)
    members = [of.judge for of in results if of.judge != PANEL]
    return [_shown(data, of, members if of.judge == PANEL else [of.judge]) for of in results]


def _shown(data: LeaderboardInput, results: JudgeResults, judges: Sequence[str]) -> ScoresByJudge:
    """Add scales of metrics and remarks on models to results; `judges` are the scoring judges."""
    keys = {(row["place"], row["metric"], row["aggregation"]) for row in results.scores}
    declared = data["benchmark"]["metrics"] if data["benchmark"] else []
    return ScoresByJudge(
        **{field.name: getattr(results, field.name) for field in fields(JudgeResults)},
        shown_metrics=list(metrics_of(declared, keys)),
        candidates=[
            _who(model, label, judges, data) for model, label in sorted(results.labels.items())
        ],
    )


def metrics_of(
    declared: Sequence[Row], keys: Iterable[tuple[int, str, str]]
) -> Iterator[DisplayedMetric]:
    """Return metrics with their declarations.

    Args:
        declared: The metrics of the benchmark.
        keys: Position, name and aggregation of each metric.
    """
    by_name = {(metric["name"], metric["aggregation"]): metric for metric in declared}
    for place, name, aggregation in sorted(keys):
        # The benchmark may no longer declare the metric: then the scale has no ends.
        declaration = by_name.get((name, aggregation), {})
        yield DisplayedMetric(
            name,
            aggregation,
            place,
            Scale(declaration.get("low"), declaration.get("high")),
            declaration.get("higher_is_better", True),
            declaration.get("inverse", False),
            declaration.get("refusals_are_right", False),
        )


def _who(model: str, label: str, judges: Sequence[str], data: LeaderboardInput) -> CandidateLabel:
    if not is_model(model):
        ablation = ablation_of(model)
        return CandidateLabel(model, (IN_WORDS[ablation] if ablation else BASELINE,), label)
    writers = data["release"]["writers"] or ()
    row = next(row for row in data["scores"] if row["model"] == model)
    remarks = relations_to_judges(model, judges, writers, data["families"])
    return CandidateLabel(model, (*remarks, *descriptions(row)), label)
