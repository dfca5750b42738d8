"""The data of figures: radar charts, and scatter plots of two scores with quadrants (planes)."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import is_model
from methods.evaluation.metrics import Metric
from methods.results.results_table import JudgeResults, MetricKey, Row, in_name, key_of, label_order

FEWEST, MOST = 3, 16
"""The fewest and most axes of a radar chart. Two enclose no area; the names of too many overlap."""
TURNS = (
    (("S1", "perception"), ("S2", "reasoning")),
    (("S1", "perception"), ("S3", "creation")),
)
"""Pairs of ConvBench metrics that are plotted against each other: name and meaning (ConvBench, 4.2)."""
QUADRANTS_OF_STEADINESS = (("worse", "better"), ("less steady", "steadier"))
"""Descriptions of low and high values in a plot of a mean and the inverse of a spread."""


class RadarData(NamedTuple):
    """A radar chart: a line of scores per model over the same axes; None for a missing score.

    `ends` are the values at the centre and at the rim of all axes.
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


class PlaneAxis(NamedTuple):
    """A metric on an axis: its key, its title, and the ends of its scale (None if it is unbounded)."""

    key: MetricKey
    title: str
    ends: tuple[float | None, float | None]


class ScorePlane(NamedTuple):
    """A scatter plot of two scores of each model. The medians divide it into quadrants.

    Attributes:
        middle: The medians of both scores.
        corners: Descriptions of low and high values on both axes.
        without: The number of models that lack one of the scores.
    """

    name: str
    axes: tuple[str, str]
    ends: tuple[tuple[float | None, float | None], tuple[float | None, float | None]]
    points: Sequence[tuple[str, ScorePoint, ScorePoint]]
    middle: tuple[float, float]
    corners: tuple[tuple[str, str], tuple[str, str]]
    without: int


def radars(results: JudgeResults, benchmark: Benchmark | None) -> Iterator[RadarData]:
    """Make a radar for each level of ability with a suitable number of values.

    Args:
        results: The results of a judge.
        benchmark: The benchmark.

    Yields:
        The radars.
    """
    if benchmark is None:
        return
    if benchmark.abilities:
        for label in benchmark.abilities:
            rows = [row for row in results.slices if row["subset_label"] == label]
            metric = _metric(benchmark, key_of(rows[0])) if rows else None
            values = sorted({row["subset_value"] for row in rows}, key=label_order)
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
    metric_names = {row["metric"] for row in rows}
    axes = [name for name in shown if name in metric_names]
    yield from _radar(results, "metrics", "by metric", first, axes, rows, "metric")


def planes(results: JudgeResults, benchmark: Benchmark | None) -> Iterator[ScorePlane]:
    """Make scatter plots: score against consistency (AlignMMBench, Figure 1), and one turn against
    another.

    The first needs a metric that is the inverse of a spread, the second the metrics of `TURNS`.
    """
    if benchmark is None:
        return
    first = _metric(benchmark, results.leading)
    named = {metric.name: metric for metric in reversed(benchmark.metrics)}
    steady = next((metric for metric in benchmark.metrics if metric.inverse), None)
    axes = []
    if first is not None and steady is not None:
        axes.append((_axis(first), _axis(steady), QUADRANTS_OF_STEADINESS))
    for (x_name, across), (y_name, up) in TURNS:
        if x_name in named and y_name in named:
            corners = ((f"low {across}", f"high {across}"), (f"low {up}", f"high {up}"))
            axes.append((_axis(named[x_name], across), _axis(named[y_name], up), corners))
    models = [row["model"] for row in results.models if is_model(row["model"])]
    for first_axis, second_axis, corners in axes:
        plane = plane_of(results, models, first_axis, second_axis, corners)
        if plane.points:
            yield plane


def plane_of(
    results: JudgeResults,
    models: Sequence[str],
    across: PlaneAxis,
    up: PlaneAxis,
    corners: tuple[tuple[str, str], tuple[str, str]],
) -> ScorePlane:
    """Make a scatter plot of two scores of each model.

    Args:
        results: The scores.
        models: The models, in the order of the points.
        across: The horizontal axis.
        up: The vertical axis.
        corners: Descriptions of low and high values on both axes.

    Returns:
        The plane, with display names of models. Models that lack a score have no point.
    """
    points = [
        (results.label(model), x, y)
        for model in models
        if (x := _point(results, model, across.key)) and (y := _point(results, model, up.key))
    ]
    return ScorePlane(
        f"quadrants-{in_name(across.key.name)}-{in_name(up.key.name)}",
        (across.title, up.title),
        (across.ends, up.ends),
        points,
        (
            median(x.value for _, x, _ in points) if points else 0.0,
            median(y.value for *_, y in points) if points else 0.0,
        ),
        corners,
        len(models) - len(points),
    )


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
    lines = [
        (results.label(model), tuple(values.get((model, axis)) for axis in axes))
        for model in models
    ]
    lines_with_values = [
        (model, line) for model, line in lines if any(value is not None for value in line)
    ]
    if lines_with_values:
        title = by if column == "metric" else f"{metric.name} {by}"
        yield RadarData(
            f"radar-{in_name(name)}", title, tuple(axes), (ends[0], ends[1]), lines_with_values
        )


def _axis(metric: Metric, ability: str = "") -> PlaneAxis:
    title = f"{metric.name}, {ability}" if ability else metric.name
    return PlaneAxis(MetricKey(metric.name, metric.aggregation), title, metric.shown_ends)


def _metric(benchmark: Benchmark, key: MetricKey) -> Metric | None:
    return next((each for each in benchmark.metrics if (each.name, each.aggregation) == key), None)


def _point(results: JudgeResults, model: str, metric: MetricKey) -> ScorePoint | None:
    row = results.row(model, metric)
    if row is None or row["value"] is None:
        return None
    value = row["value"]
    ends = (value if row[end] is None else row[end] for end in ("ci_low", "ci_high"))
    return ScorePoint(value, *ends)
