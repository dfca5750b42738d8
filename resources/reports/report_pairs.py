"""The comparison matrix of a report: every two models by the metric that ranks.

What belongs here: differences with their intervals and p by Holm, which of them count, and the smallest
difference that the release can show; and what each model scores more than without its images. The tests
are `methods/evaluation/ranking.py`.
"""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from methods.evaluation.contestants import is_model, model_of
from resources.reports.estimate import Estimate, Scale
from resources.reports.report_input import Row
from resources.reports.report_scores import FLOOR, Judged, MetricShown, Who

ALPHA = 0.05
FEW_CLUSTERS = 30
"""With fewer, more than that can be detected is missed (`methods/evaluation/statistics/power.py`)."""
TOO_FEW_CLUSTERS = 5
"""With so many or fewer no sign-flip test of two sides comes below 0.05: 2 / 2^5 = 0.0625."""


class Difference(NamedTuple):
    """The model of the line less that of the column; `verdict` is `better`, `worse` or empty."""

    difference: str
    interval: str
    p: str
    verdict: str


class Pairs(NamedTuple):
    """The matrix; a cell is None where a model meets itself or there is nothing to compare.

    `detectable` says what difference would be found, None where that is not known.
    """

    metric: MetricShown
    models: list[Who]
    lines: list[list[Difference | None]]
    detectable: str | None
    n_clusters: int

    @property
    def few_clusters(self) -> bool:
        """Whether the detectable difference is too small a number."""
        return self.n_clusters < FEW_CLUSTERS

    @property
    def none_can_count(self) -> bool:
        """Whether there are too few clusters for any difference to count."""
        return self.n_clusters <= TOO_FEW_CLUSTERS


class Looking(NamedTuple):
    """A model with its images and without them; `difference` is the first score less the second."""

    model: Who
    without: Who
    score: Estimate
    score_without: Estimate
    difference: Difference | None


def looking_of(judged: Judged, metric: MetricShown, order: Sequence[Who]) -> list[Looking]:
    """Every model that was asked without its images, too, in this order."""
    rows = _rows(judged, metric)
    return [
        Looking(
            model,
            without,
            judged.estimate(model.name, metric),
            judged.estimate(without.name, metric),
            between(rows, model.name, without.name, metric),
        )
        for model in order
        for without in order
        if without.ablation and model_of(without.name) == model.name
    ]


def pairs_of(judged: Judged, metric: MetricShown, order: Sequence[Who]) -> Pairs | None:
    """The matrix of the models in this order; None where no two models were compared."""
    rows = {pair: row for pair, row in _rows(judged, metric).items() if all(map(is_model, pair))}
    if not rows:
        return None
    models = [who for who in order if any(who.name in pair for pair in rows)]
    return Pairs(
        metric,
        models,
        [[between(rows, one.name, other.name, metric) for other in models] for one in models],
        _detectable([row["detectable"] for row in rows.values()], metric.scale),
        min(row["n_clusters"] for row in rows.values()),
    )


def _rows(judged: Judged, metric: MetricShown) -> dict[tuple[str, str], Row]:
    """The comparisons by this metric, by pair."""
    return {
        (row["first"], row["second"]): row
        for row in judged.comparisons
        if (row["metric"], row["aggregation"], row["form"]) == (*metric.key, FLOOR)
    }


def between(
    rows: Mapping[tuple[str, str], Row], one: str, other: str, metric: MetricShown
) -> Difference | None:
    """The first model less the second, from rows of comparisons by pair, in either order."""
    row, sign = rows.get((one, other)), 1
    if row is None:
        row, sign = rows.get((other, one)), -1
    return None if row is None else difference_of(row, metric, sign)


def difference_of(
    row: Row, metric: MetricShown, sign: int = 1, of: str = "difference"
) -> Difference | None:
    """The difference of a row, or with `sign` -1 that of the second less the first; None without one.

    It stands in the column `of`.
    """
    difference = row[of]
    if difference is None:
        return None
    scale = metric.scale
    ends = [sign * end for end in (row["ci_low"], row["ci_high"]) if end is not None]
    verdict = ""
    if row["p_holm"] is not None and row["p_holm"] < ALPHA:
        # Differences are of means of units, which fall where an inverse metric rises.
        wanted = metric.higher_is_better != metric.inverse
        verdict = "better" if (sign * difference > 0) == wanted else "worse"
    return Difference(
        scale.difference(sign * difference),
        " to ".join(scale.difference(end) for end in sorted(ends)),
        in_words(row["p_holm"]),
        verdict,
    )


def in_words(p: float | None) -> str:
    """p as a table shows it."""
    if p is None:
        return "no test"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.095 else f"p = {p:.3f}"


def _detectable(effects: Sequence[float | None], scale: Scale) -> str | None:
    # Pairs that did not differ at all show nothing of how much they could.
    known = sorted(effect for effect in effects if effect)
    if not known:
        return None
    low, middle, high = (scale.shown(each) for each in (known[0], median(known), known[-1]))
    return middle if low == high else f"{middle} ({low} to {high}, by pair)"
