"""The scores of a release as a report's sections find them: by judge, metric, form and model."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from methods.evaluation.contestants import (
    BASELINE,
    NO_IMAGES,
    OTHER_IMAGES,
    ablation_of,
    is_model,
)
from methods.evaluation.judging import PANEL, RULE
from methods.evaluation.related import related
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.report_input import LeaderboardInput, Row

IN_WORDS = {NO_IMAGES: "no images", OTHER_IMAGES: "images of another item"}
"""What a model is sent in place of the images, by ablation."""
FLOOR, JUDGED, COMMON, ALL_ITEMS = "floor", "judged", "common", "all_items"


class DisplayedMetric(NamedTuple):
    """A metric as the page shows it; `inverse`: the number falls where the mean of units rises,
    `refusals_are_right`: it is an upper bound, in which what was declined is right."""

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
    def key(self) -> tuple[str, str]:
        """What tells it from the benchmark's other metrics."""
        return self.name, self.aggregation


class CandidateLabel(NamedTuple):
    """A contestant; `tags` are short remarks on it."""

    name: str
    tags: tuple[str, ...]

    @property
    def is_model(self) -> bool:
        """Whether it may have a rank."""
        return is_model(self.name)

    @property
    def ablation(self) -> str | None:
        """What is done about the images of a model that does not see them."""
        return ablation_of(self.name)

    @property
    def is_baseline(self) -> bool:
        """Whether it answers by rule."""
        return not self.is_model and self.ablation is None


@dataclass(frozen=True)
class ScoresByJudge:
    """What one judge, under one version, says of all models.

    `whole` has the rows of scores of everything by model, metric, aggregation and form; `parts` those
    by subset. `ranks` are by model, metric and aggregation; `by_ability` are comparisons on parts.
    """

    judge: str
    version: str
    metrics: Sequence[DisplayedMetric]
    whole: Mapping[tuple[str, str, str, str], Row]
    parts: Sequence[Row]
    ranks: Mapping[tuple[str, str, str], Row]
    comparisons: Sequence[Row]
    by_ability: Sequence[Row]
    contestants: Sequence[CandidateLabel]

    @property
    def title(self) -> str:
        """What the judge is called where several are shown."""
        if self.judge == PANEL:
            return "Panel"
        return "Rule" if self.judge == RULE else self.judge

    def estimate(self, model: str, metric: DisplayedMetric, form: str = FLOOR) -> ReportEstimate:
        """The score of everything, of one model."""
        row = self.row(model, metric, form)
        return estimate_of(row, metric.scale) if row else ReportEstimate(scale=metric.scale)

    def row(self, model: str, metric: DisplayedMetric, form: str = FLOOR) -> Row | None:
        """The row of that score."""
        return self.whole.get((model, *metric.key, form))

    def rank(self, model: str, metric: DisplayedMetric) -> Row:
        """The rank of a model; empty where none was worked out."""
        return self.ranks.get((model, *metric.key), {})


def estimate_of(row: Row, scale: Scale) -> ReportEstimate:
    """The score of a row with its interval."""
    return ReportEstimate(row["value"], row["ci_low"], row["ci_high"], scale, row.get("n_clusters"))


def judges_of(data: LeaderboardInput) -> list[ScoresByJudge]:
    """What each judge and version says: the profile's judges first, the panel last.

    `data` is that of `render_report`. Of one judge's versions the one that has judged most is first.
    """
    n_judged: dict[tuple[str, str], int] = {}
    for row in data["scores"]:
        key = row["judge"], row["judge_version"]
        n_judged[key] = n_judged.get(key, 0) + row["n_judged"]
    places = {name: place for place, name in enumerate(data["judges"])}
    ordered = sorted(
        n_judged,
        key=lambda key: (key[0] == PANEL, places.get(key[0], len(places)), key[0], -n_judged[key]),
    )
    return [_judged(data, *key, ordered) for key in ordered]


def _judged(
    data: LeaderboardInput, judge: str, version: str, all_judges: Iterable[tuple[str, str]]
) -> ScoresByJudge:
    def mine(rows: Iterable[Row]) -> Iterator[Row]:
        key = judge, version
        return (row for row in rows if (row["judge"], row["judge_version"]) == key)

    rows = list(mine(data["scores"]))
    judges = [name for name, _ in all_judges if name != PANEL] if judge == PANEL else [judge]
    models = sorted({row["model"] for row in rows})
    return ScoresByJudge(
        judge,
        version,
        list(
            metrics_of(
                data["benchmark"]["metrics"] if data["benchmark"] else [],
                {(row["place"], row["metric"], row["aggregation"]) for row in rows},
            )
        ),
        {
            (row["model"], row["metric"], row["aggregation"], row["form"]): row
            for row in rows
            if not row["subset_label"]
        },
        [row for row in rows if row["subset_label"]],
        {(row["model"], row["metric"], row["aggregation"]): row for row in mine(data["ranks"])},
        list(mine(data["comparisons"])),
        list(mine(data["ability_comparisons"])),
        [_who(model, judges, data) for model in models],
    )


def metrics_of(
    declared: Sequence[Row], found: Iterable[tuple[int, str, str]]
) -> Iterator[DisplayedMetric]:
    """The metrics of these places, names and aggregations, with what their benchmark says of them."""
    by_name = {(metric["name"], metric["aggregation"]): metric for metric in declared}
    for place, name, aggregation in sorted(found):
        # A benchmark may have changed since: then the scale is that of the scores.
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


def _who(model: str, judges: Sequence[str], data: LeaderboardInput) -> CandidateLabel:
    if not is_model(model):
        ablation = ablation_of(model)
        return CandidateLabel(model, (IN_WORDS[ablation] if ablation else BASELINE,))
    writers = data["release"]["writers"] or ()
    return CandidateLabel(model, related(model, judges, writers, data["families"]))
