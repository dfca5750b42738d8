"""Dot-and-interval charts of a report: where each dot and bar stands, in percent of the axis.

What belongs here: places on the axis. The charts are drawn by the page's own styles, so that they are
read on a phone, in the dark and on paper.
"""

from collections.abc import Sequence
from typing import NamedTuple

from resources.reports.estimate import Estimate, Scale
from resources.reports.report_scores import MetricShown, Who


class Mark(NamedTuple):
    """One line of a chart: the dot and both ends of its bar in percent; None where there is none."""

    who: Who
    estimate: Estimate
    dot: float | None
    left: float | None
    width: float | None


class Chart(NamedTuple):
    """The scores of all models by one metric, and the ends of the axis."""

    metric: MetricShown
    low: str
    high: str
    marks: list[Mark]


def chart(metric: MetricShown, scores: Sequence[tuple[Who, Estimate]]) -> Chart:
    """The chart of a metric; an axis without an end ends with the scores."""
    ends = [end for _, each in scores for end in (each.value, each.low, each.high)]
    scale = metric.scale.closed(ends)
    marks = []
    for who, each in scores:
        left = width = None
        if each.low is not None and each.high is not None:
            left = _percent(scale, each.low)
            width = round(_percent(scale, each.high) - left, 2)
        dot = None if each.value is None else _percent(scale, each.value)
        marks.append(Mark(who, each, dot, left, width))
    low, high = (metric.scale.shown(end).removesuffix(".0") for end in scale)
    return Chart(metric, low, high, marks)


def _percent(scale: Scale, value: float) -> float:
    return round(100 * scale.place(value), 2)
