"""Plots of scores in a report: dots with intervals, radar charts, and mean score against steadiness.

Dots with intervals are HTML in lists and tables (`templates/report_plots.html`). The other plots are
figures of `charts.py`.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from markupsafe import Markup

from methods.results.shapes import QUADRANTS_OF_STEADINESS, PlaneAxis, RadarData, plane_of
from resources.reports import report_blocks as block
from resources.reports.charts import HEIGHT, SMALL, plane_figure, radar_figure
from resources.reports.estimate import ReportEstimate, Scale
from resources.reports.figures import COLUMN, inline_svg
from resources.reports.report_blocks import Cell, markup
from resources.reports.report_scores import CandidateLabel, DisplayedMetric, ScoresByJudge

FEWEST, MOST = 3, 12
"""Number of axes of a radar chart: fewer enclose no area, and more cannot be told apart."""
ALL_ALIKE = "infinite: in each of its {n} groups all wordings have one rating"

BAR = '<i class="ci" style="left:{left}%;width:{width}%"></i>'
DOT = '<i class="dot" style="left:{at}%"></i>'


class ChartMark(NamedTuple):
    """One line of a chart: the dot, and the left end and width of its interval, in % of the axis. They
    are None without a score or an interval."""

    who: CandidateLabel
    estimate: ReportEstimate
    dot: float | None
    left: float | None
    width: float | None

    @property
    def track(self) -> Markup:
        """The HTML of the interval and the dot on their axis."""
        bar = markup(BAR, left=self.left, width=self.width) if self.left is not None else ""
        dot = markup(DOT, at=self.dot) if self.dot is not None else ""
        return markup('<span class="track">{bar}{dot}</span>', bar=bar, dot=dot)


class Chart(NamedTuple):
    """A chart of models' scores by one metric: the ends of its axis, and a note below the title."""

    title: str
    note: str
    low: str
    high: str
    marks: list[ChartMark]


def chart(
    metric: DisplayedMetric, scores: Sequence[tuple[CandidateLabel, ReportEstimate]]
) -> Chart:
    """Make the chart of a metric; an axis without an end stops at the most extreme score.

    Args:
        metric: The metric.
        scores: The score of each model.
    """
    scale = _closed(metric.scale, (estimate for _, estimate in scores))
    note = "" if metric.higher_is_better else "lower is better"
    return _chart(metric.name, note, metric.scale, scale, scores)


def multiples(
    metric: DisplayedMetric,
    models: Sequence[CandidateLabel],
    parts: Sequence[tuple[str, str, Sequence[ReportEstimate]]],
) -> list[Chart]:
    """Make a chart for each value of a label, all with the same axis.

    Args:
        metric: The metric of the scores. An axis without an end stops at the most extreme score of all
            charts.
        models: The models.
        parts: (value of the label, its number of units, scores in the order of the models).
    """
    scale = _closed(metric.scale, (score for *_, scores in parts for score in scores))
    return [
        _chart(value, f"n = {n}", metric.scale, scale, list(zip(models, scores, strict=True)))
        for value, n, scores in parts
    ]


def _closed(scale: Scale, scores: Iterable[ReportEstimate]) -> Scale:
    return scale.closed(end for of in scores for end in (of.value, of.low, of.high))


def _chart(
    title: str,
    note: str,
    shown: Scale,
    scale: Scale,
    scores: Sequence[tuple[CandidateLabel, ReportEstimate]],
) -> Chart:
    """Make a chart on the axis `scale`; its ends are formatted as numbers of the scale `shown`."""
    marks = []
    for who, estimate in scores:
        start = width = None
        if estimate.low is not None and estimate.high is not None:
            start = _percent(scale, estimate.low)
            width = round(_percent(scale, estimate.high) - start, 2)
        dot = None if estimate.value is None else _percent(scale, estimate.value)
        marks.append(ChartMark(who, estimate, dot, start, width))
    low, high = (shown.shown(end).removesuffix(".0") for end in scale)
    return Chart(title, note, low, high, marks)


def _percent(scale: Scale, value: float) -> float:
    return round(100 * scale.place(value), 2)


def radars(
    names: Sequence[str],
    models: Sequence[CandidateLabel],
    scores: Sequence[Sequence[ReportEstimate]],
    scale: Scale,
) -> block.FigureRow | None:
    """Make a radar chart for each model, with the mean of all models.

    Args:
        names: The names of the axes.
        models: The models.
        scores: For each of `names`, the scores in the order of the models.
        scale: The scale of the scores.

    Returns:
        The radars; None if there are too few or too many axes, or if the scale has no end.
    """
    if not FEWEST <= len(names) <= MOST or scale.low is None or scale.high is None:
        return None
    axes = tuple(str(number) for number in range(1, len(names) + 1))
    means = tuple(map(_mean, scores))
    figures = []
    for place, who in enumerate(models):
        column = [row[place] for row in scores]
        lines = [(who.label, tuple(score.value for score in column)), ("mean", means)]
        words = [
            f"{name}: {score.shown}"
            for name, score in zip(names, column, strict=True)
            if score.value is not None
        ]
        radar = RadarData("", "", axes, (scale.low, scale.high), lines)
        figure = radar_figure(radar, SMALL, SMALL, "none", words)
        figures.append((who.label, inline_svg(figure, f"{who.label}: {', '.join(words)}")))
    return block.FigureRow(figures, "radars", names)


def _mean(row: Sequence[ReportEstimate]) -> float | None:
    values = [estimate.value for estimate in row if estimate.value is not None]
    return fmean(values) if values else None


def quadrants(judged: ScoresByJudge, order: Sequence[CandidateLabel]) -> list[block.Block]:
    """Make the plot of performance against steadiness in four quadrants (AlignMMBench, Figure 1).

    The horizontal axis is the first shown metric, a mean. The vertical axis is the alignment score: the
    metric that is the inverse of a spread. Below is a table of the models. It is empty if no metric is
    the inverse of a spread.

    Args:
        judged: The scores of a judge.
        order: The order of models.
    """
    alignment = next((metric for metric in judged.shown_metrics if metric.inverse), None)
    mean = judged.shown_metrics[0]
    if alignment is None or mean.inverse or mean.scale.low is None or mean.scale.high is None:
        return []
    models = {who.label: who for who in order if who.is_model}
    across, up = (
        PlaneAxis(metric.key, metric.name, (metric.scale.low, metric.scale.high))
        for metric in (mean, alignment)
    )
    plane = plane_of(
        judged, [who.name for who in models.values()], across, up, QUADRANTS_OF_STEADINESS
    )
    best = max(plane.points, key=lambda point: point[2].value, default=None)
    finding = f"Highest {alignment.name.lower()}: {best[0]}" if best else "Not known"
    blocks: list[block.Block] = [
        block.Heading("Performance and steadiness"),
        block.note("quadrants", mean=mean, alignment=alignment),
    ]
    if plane.points:
        lines, words = [], []
        for number, (label, x, y) in enumerate(plane.points, start=1):
            who = models[label]
            score, steadiness = (
                judged.estimate(who.name, mean),
                judged.estimate(who.name, alignment),
            )
            n_groups = (judged.row(who.name, alignment.key) or {}).get("n_units", 0)
            lines.append(
                [
                    Cell(str(number)),
                    block.who(who),
                    block.tinted(score),
                    Cell(steadiness.shown, [steadiness.interval or "no interval"]),
                    Cell(str(n_groups), kind="n quiet"),
                    Cell(
                        _quadrant(x.value, y.value, plane.middle),
                        [ALL_ALIKE.format(n=n_groups)] if math.isinf(y.value) else [],
                        "",
                    ),
                ]
            )
            words.append(f"{label}: {score.shown}, {steadiness.shown}")
        figure = plane_figure(plane, COLUMN, HEIGHT, "none", words)
        label = f"{mean.name} and {alignment.name}: {'; '.join(words)}"
        heads = [Cell("No."), *block.heads("Model", mean.name, alignment.name, "Groups")]
        heads.append(Cell("Beside the medians", kind="l"))
        blocks += [
            block.FigureRow([("", inline_svg(figure, label))]),
            block.Table("Performance and steadiness", heads, lines, "looking"),
        ]
        if any(math.isinf(end) for *_, y in plane.points for end in y):
            blocks.append(block.note("infinite_score"))
    shown_labels = {label for label, *_ in plane.points}
    if without := [label for label in models if label not in shown_labels]:
        blocks.append(block.note("without_alignment", alignment=alignment, names=without))
    return block.folded(blocks, finding)


def _quadrant(mean: float, alignment: float, middle: tuple[float, float]) -> str:
    return ", ".join(
        above if value > at else below if value < at else f"as {alike} as the median"
        for (above, below, alike), value, at in zip(
            (("better", "worse", "good"), ("steadier", "less steady", "steady")),
            (mean, alignment),
            middle,
            strict=True,
        )
    )
