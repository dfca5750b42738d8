"""What pictures of results show beside the scores: radars, and two scores against each other."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from methods.evaluation.benchmark import Benchmark
from methods.evaluation.contestants import is_model
from methods.evaluation.metrics import Metric
from methods.results.results_table import JudgeResults, MetricKey, Row, in_name, in_order, key_of

FEWEST, MOST = 3, 16
"""Axes of a radar: fewer enclose no area, and the names of more stand on each other."""
TURNS = (
    (("S1", "perception"), ("S2", "reasoning")),
    (("S1", "perception"), ("S3", "creation")),
)
"""Metrics of ConvBench against each other, by name and in words (ConvBench, 4.2)."""
QUADRANTS_OF_STEADINESS = (("worse", "better"), ("less steady", "steadier"))
"""The corners of a mean against the inverse of a spread, in words."""


class RadarData(NamedTuple):
    """A line for each model over the same axes; None where a model has no score.

    `ends` are those of every axis: the middle and the rim.
    """

    name: str
    title: str
    axes: tuple[str, ...]
    ends: tuple[float, float]
    lines: Sequence[tuple[str, tuple[float | None, ...]]]


class ScorePoint(NamedTuple):
    """A score and its interval."""

    value: float
    low: float
    high: float


class ScorePlane(NamedTuple):
    """Two scores of each model; `middle` are the medians of the models, the lines between quadrants.

    `corners` are in words what is low and what is high on both axes. An end is None where the scale has
    none. `without` counts the models that lack one of the scores.
    """

    name: str
    axes: tuple[str, str]
    ends: tuple[tuple[float | None, float | None], tuple[float | None, float | None]]
    points: Sequence[tuple[str, ScorePoint, ScorePoint]]
    middle: tuple[float, float]
    corners: tuple[tuple[str, str], tuple[str, str]]
    without: int


def radars(results: JudgeResults, benchmark: Benchmark | None) -> Iterator[RadarData]:
    """A radar for each level of ability that has as many values as a radar can show.

    Where a benchmark has no abilities, the axes are its metrics on the scale of the one that ranks.
    """
    if benchmark is None:
        return
    if benchmark.abilities:
        for label in benchmark.abilities:
            rows = [row for row in results.slices if row["subset_label"] == label]
            metric = _metric(benchmark, key_of(rows[0])) if rows else None
            values = sorted({row["subset_value"] for row in rows}, key=in_order)
            yield from _radar(results, label, f"by {label}", metric, values, rows, "subset_value")
        return
    first = _metric(benchmark, results.leading)
    shown = [
        metric.name
        for metric in benchmark.metrics
        if first is not None
        and metric.aggregation == first.aggregation
        and metric.higher_is_better
        and not metric.inverse
        and metric.shown_ends == first.shown_ends
    ]
    rows = [
        row
        for row in results.metrics
        if row["metric"] in shown and first and row["aggregation"] == first.aggregation
    ]
    known = {row["metric"] for row in rows}
    axes = [name for name in shown if name in known]
    yield from _radar(results, "metrics", "by metric", first, axes, rows, "metric")


def planes(results: JudgeResults, benchmark: Benchmark | None) -> Iterator[ScorePlane]:
    """How good models are against how steady (AlignMMBench, Figure 1), and one turn against another.

    The first needs a metric that is the inverse of a spread; the second one those of `TURNS`.
    """
    if benchmark is None:
        return
    first = _metric(benchmark, results.leading)
    named = {metric.name: metric for metric in reversed(benchmark.metrics)}
    steady = next((metric for metric in benchmark.metrics if metric.inverse), None)
    if first is not None and steady is not None:
        words = (first.name, steady.name)
        yield from _plane(results, first, steady, words, QUADRANTS_OF_STEADINESS)
    for (one, across), (other, up) in TURNS:
        if one in named and other in named:
            words = (f"{one}, {across}", f"{other}, {up}")
            corners = ((f"low {across}", f"high {across}"), (f"low {up}", f"high {up}"))
            yield from _plane(results, named[one], named[other], words, corners)


def _radar(
    results: JudgeResults,
    name: str,
    by: str,
    metric: Metric | None,
    axes: Sequence[str],
    rows: Sequence[Row],
    column: str,
) -> Iterator[RadarData]:
    ends = metric.shown_ends if metric else (None, None)
    if metric is None or not FEWEST <= len(axes) <= MOST or ends[0] is None or ends[1] is None:
        return
    values = {(row["model"], row[column]): row["value"] for row in rows}
    models = [row["model"] for row in results.models if is_model(row["model"])]
    lines = [(model, tuple(values.get((model, axis)) for axis in axes)) for model in models]
    known = [(model, line) for model, line in lines if any(value is not None for value in line)]
    if known:
        title = by if column == "metric" else f"{metric.name} {by}"
        yield RadarData(f"radar-{in_name(name)}", title, tuple(axes), (ends[0], ends[1]), known)


def _plane(
    results: JudgeResults,
    across: Metric,
    up: Metric,
    words: tuple[str, str],
    corners: tuple[tuple[str, str], tuple[str, str]],
) -> Iterator[ScorePlane]:
    models = [row["model"] for row in results.models if is_model(row["model"])]
    points = [
        (model, x, y)
        for model in models
        if (x := _point(results, model, across)) and (y := _point(results, model, up))
    ]
    if points:
        yield ScorePlane(
            f"quadrants-{in_name(across.name)}-{in_name(up.name)}",
            words,
            (across.shown_ends, up.shown_ends),
            points,
            (median(x.value for _, x, _ in points), median(y.value for *_, y in points)),
            corners,
            len(models) - len(points),
        )


def _metric(benchmark: Benchmark, key: MetricKey) -> Metric | None:
    return next((each for each in benchmark.metrics if (each.name, each.aggregation) == key), None)


def _point(results: JudgeResults, model: str, metric: Metric) -> ScorePoint | None:
    row = results.row(model, MetricKey(metric.name, metric.aggregation))
    if row is None or row["value"] is None:
        return None
    return ScorePoint(row["value"], row["ci_low"], row["ci_high"])
