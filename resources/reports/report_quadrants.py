"""The quadrant plot of a report: how good a model is against how steady (AlignMMBench, Figure 1).

What belongs here: points on the page. The horizontal axis has the mean that is shown first, the other
one the alignment score: the metric that is the inverse of a spread. A score that is infinite stands on
a line above the axis, and an interval without an upper end reaches up to it. The lines between the
quadrants are the medians of the models.
"""

import math
from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from resources.reports.estimate import Estimate, Scale
from resources.reports.report_scores import Judged, MetricShown, Who

LEFT, RIGHT, TOP, BOTTOM = 52.0, 632.0, 44.0, 320.0
"""The ends of the axes, in units of the drawing."""
INFINITE = 20.0
"""The height of the line of infinite scores."""
BESIDE = 15.0
"""How far the number of a model stands from its point."""
N_TICKS = 5


class Tick(NamedTuple):
    """A number on an axis, and where it stands."""

    at: float
    shown: str


class Point(NamedTuple):
    """One or several models at one place: their numbers, and the ends of their intervals."""

    numbers: str
    x: float
    y: float
    left: float
    right: float
    low: float
    high: float
    words: str


class Line(NamedTuple):
    """One model of the list below the plot."""

    number: int
    who: Who
    mean: Estimate
    alignment: Estimate
    n_groups: int
    quadrant: str


class Quadrants(NamedTuple):
    """The plot; `middle` are the medians on it, `without` the models that have no alignment score."""

    mean: MetricShown
    alignment: MetricShown
    points: list[Point]
    lines: list[Line]
    without: list[Who]
    middle: tuple[float, float]
    across: list[Tick]
    up: list[Tick]
    has_infinite: bool


def quadrants_of(judged: Judged, order: Sequence[Who]) -> Quadrants | None:
    """The plot of one judge's scores; None where nothing is the inverse of a spread."""
    alignment = next((each for each in judged.metrics if each.inverse), None)
    mean = judged.metrics[0]
    if alignment is None or mean.inverse or mean.scale.low is None or mean.scale.high is None:
        return None
    models = [who for who in order if who.is_model]
    scores = {
        who: (judged.estimate(who.name, mean), judged.estimate(who.name, alignment))
        for who in models
    }
    placed = [who for who in models if None not in (of.value for of in scores[who])]
    ends = [end for who in placed for end in scores[who][1][:3]]
    scale = Scale(0.0, _round_end(Scale(0.0, None).closed(ends).high or 1.0))
    middles = (
        [median(scores[who][place].value or 0.0 for who in placed) for place in (0, 1)]
        if placed
        else [0.0, 0.0]
    )
    lines = []
    for number, who in enumerate(placed, start=1):
        of_mean, of_alignment = scores[who]
        row = judged.row(who.name, alignment) or {}
        quadrant = _quadrant(of_mean, of_alignment, middles)
        lines.append(Line(number, who, of_mean, of_alignment, row.get("n_units", 0), quadrant))
    return Quadrants(
        mean,
        alignment,
        _points(lines, scale),
        lines,
        [who for who in models if who not in placed],
        (_across(middles[0], mean.scale), _up(middles[1], scale)),
        _ticks(mean.scale, _across),
        _ticks(scale, _up) if any(end is not None and math.isfinite(end) for end in ends) else [],
        any(end is not None and math.isinf(end) for end in ends),
    )


def _points(lines: Sequence[Line], scale: Scale) -> list[Point]:
    """Models at one place are one point, so that their numbers can be read."""
    places: dict[tuple[int, int], list[Line]] = {}
    for line in lines:
        x, y = _across(line.mean.value, line.mean.scale), _up(line.alignment.value, scale)
        places.setdefault((round(x / BESIDE), round(y / BESIDE)), []).append(line)
    points = []
    for found in places.values():
        for line in found:
            mean, alignment = line.mean, line.alignment
            points.append(
                Point(
                    ", ".join(str(each.number) for each in found) if line is found[0] else "",
                    _across(mean.value, mean.scale),
                    _up(alignment.value, scale),
                    _across(_else(mean.low, mean.value), mean.scale),
                    _across(_else(mean.high, mean.value), mean.scale),
                    _up(_else(alignment.low, alignment.value), scale),
                    _up(_else(alignment.high, alignment.value), scale),
                    f"{line.who.name}: {mean.shown}, {alignment.shown}",
                )
            )
    return points


def _quadrant(mean: Estimate, alignment: Estimate, middles: Sequence[float]) -> str:
    return ", ".join(
        above if value > middle else below if value < middle else f"as {alike} as the median"
        for (above, below, alike), value, middle in zip(
            (("better", "worse", "good"), ("steadier", "less steady", "steady")),
            (mean.value or 0.0, alignment.value or 0.0),
            middles,
            strict=True,
        )
    )


def _round_end(highest: float) -> float:
    """The end of an axis whose ticks are short numbers."""
    unit = (N_TICKS - 1) * 10 ** (math.floor(math.log10(highest)) - 1) if highest > 0 else 1.0
    return math.ceil(highest / unit) * unit if highest > 0 else unit


def _else(end: float | None, value: float | None) -> float | None:
    return value if end is None else end


def _across(value: float | None, scale: Scale) -> float:
    return round(LEFT + (RIGHT - LEFT) * scale.place(value or 0.0), 1)


def _up(value: float | None, scale: Scale) -> float:
    if value is not None and math.isinf(value):
        return INFINITE
    return round(BOTTOM - (BOTTOM - TOP) * scale.place(value or 0.0), 1)


def _ticks(scale: Scale, place: Callable[[float, Scale], float]) -> list[Tick]:
    low, high = scale.low or 0.0, scale.high or 0.0
    values = [low + (high - low) * step / (N_TICKS - 1) for step in range(N_TICKS)]
    return [Tick(place(value, scale), f"{value:.3g}") for value in values]
