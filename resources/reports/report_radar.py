"""Radars of a report: one for each model, the mean of all models behind it.

What belongs here: points on the page. A radar has an axis for each ability, the first at the top, the
others clockwise; the centre is the lower end of the metric's scale. Models stand beside each other, so
that colours need not tell them apart.
"""

from collections.abc import Sequence
from math import cos, pi, sin
from statistics import fmean
from typing import NamedTuple

from resources.reports.estimate import Estimate, Scale
from resources.reports.report_scores import Who

FEWEST, MOST = 3, 12
"""Axes: fewer enclose no area, and more cannot be told apart."""
RADIUS, NUMBERS = 100.0, 116.0
"""Where an axis ends, and where its number stands, in units of the drawing."""
RINGS = (0.25, 0.5, 0.75, 1.0)

Point = tuple[float, float]


class Axis(NamedTuple):
    """One ability: its number beside the axis, and the axis' end."""

    number: int
    name: str
    end: Point
    label: Point


class Shape(NamedTuple):
    """One model: the corners as an SVG's points, None where an ability has no score; and its dots."""

    who: Who
    points: str | None
    dots: list[tuple[Point, str]]


class Radar(NamedTuple):
    """All models; `mean` is the polygon of their means, None where an ability has no score."""

    axes: list[Axis]
    rings: list[str]
    mean: str | None
    shapes: list[Shape]


def radar_of(
    names: Sequence[str], models: Sequence[Who], scores: Sequence[Sequence[Estimate]], scale: Scale
) -> Radar | None:
    """The radars of `scores`, a row for each of `names` and in it one of each model.

    None where there are too few or too many axes, or where the scale has no end.
    """
    if not FEWEST <= len(names) <= MOST or scale.low is None or scale.high is None:
        return None
    n = len(names)
    columns = [[row[place] for row in scores] for place in range(len(models))]
    means = [_mean(row) for row in scores]
    return Radar(
        [
            Axis(place + 1, name, _point(place, n, RADIUS), _point(place, n, NUMBERS))
            for place, name in enumerate(names)
        ],
        [_polygon([ring] * n) or "" for ring in RINGS],
        _polygon([None if mean is None else scale.place(mean) for mean in means]),
        [_shape(who, column, names, scale) for who, column in zip(models, columns, strict=True)],
    )


def _shape(who: Who, column: Sequence[Estimate], names: Sequence[str], scale: Scale) -> Shape:
    shares = [None if of.value is None else scale.place(of.value) for of in column]
    return Shape(
        who,
        _polygon(shares),
        [
            (_point(place, len(names), share * RADIUS), f"{name}: {of.shown}")
            for place, (name, of, share) in enumerate(zip(names, column, shares, strict=True))
            if share is not None
        ],
    )


def _mean(row: Sequence[Estimate]) -> float | None:
    known = [each.value for each in row if each.value is not None]
    return fmean(known) if known else None


def _polygon(shares: Sequence[float | None]) -> str | None:
    """The points at these shares of the axes, as an SVG has them; None where one is lacking."""
    corners = []
    for place, share in enumerate(shares):
        if share is None:
            return None
        corners.append("{:g},{:g}".format(*_point(place, len(shares), share * RADIUS)))
    return " ".join(corners)


def _point(place: int, n: int, distance: float) -> Point:
    angle = 2 * pi * place / n
    # Adding 0 makes 0.0 of -0.0.
    return round(distance * sin(angle), 1) + 0.0, round(-distance * cos(angle), 1) + 0.0
