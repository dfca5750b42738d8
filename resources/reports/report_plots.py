"""Plots of scores: dots with intervals, radars, and how good a model is against how steady.

What belongs here: places on the page. The plots are drawn by `templates/report_plots.html` and the
page's own styles, so that they are read on a phone, in the dark and on paper.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from math import cos, pi, sin
from statistics import fmean, median
from typing import NamedTuple

from markupsafe import Markup

from resources.reports import report_blocks as block
from resources.reports.estimate import Estimate, Scale
from resources.reports.report_blocks import Cell, said
from resources.reports.report_scores import Judged, MetricShown, Who

FEWEST, MOST = 3, 12
"""Axes: fewer enclose no area, and more cannot be told apart."""
RADIUS, NUMBERS = 100.0, 116.0
"""Where an axis ends, and where its number stands, in units of the drawing."""
RINGS = (0.25, 0.5, 0.75, 1.0)
LEFT, RIGHT, TOP, BOTTOM = 52.0, 632.0, 44.0, 320.0
"""The ends of the axes, in units of the drawing."""
INFINITE = 20.0
"""The height of the line of infinite scores."""
BESIDE = 15.0
"""How far the number of a model stands from its point."""
N_TICKS = 5
QUADRANTS = """{mean}, {averaged}, to the right; {alignment} upwards, which is higher the less a model's
ratings differ over the wordings of one question. Bars are 95&nbsp;% intervals, broken lines the medians
of the models."""
INFINITE_SCORE = """∞ stands above the axis: where no group differs there is no spread to divide by,
which a model that always answers alike reaches, too. It says nothing about how good the answers are."""
ALL_ALIKE = "infinite: in each of its {n} groups all wordings have one rating"
WITHOUT = """Without {alignment}: {names}. No group has two questions with a rating, so nothing is known
about wordings."""

BAR = '<i class="ci" style="left:{left}%;width:{width}%"></i>'
DOT = '<i class="dot" style="left:{at}%"></i>'
Place = tuple[float, float]


class Mark(NamedTuple):
    """One line of a chart: the dot and both ends of its bar in percent; None where there is none."""

    who: Who
    estimate: Estimate
    dot: float | None
    left: float | None
    width: float | None

    @property
    def track(self) -> Markup:
        """The bar and the dot on the track of their axis."""
        bar = said(BAR, left=self.left, width=self.width) if self.left is not None else ""
        dot = said(DOT, at=self.dot) if self.dot is not None else ""
        return said('<span class="track">{bar}{dot}</span>', bar=bar, dot=dot)


class Chart(NamedTuple):
    """The scores of all models by one metric, and the ends of the axis."""

    metric: MetricShown
    low: str
    high: str
    marks: list[Mark]


def chart(metric: MetricShown, scores: Sequence[tuple[Who, Estimate]]) -> Chart:
    """The chart of a metric; an axis without an end ends with the scores."""
    ends = [end for _, estimate in scores for end in (estimate.value, estimate.low, estimate.high)]
    scale = metric.scale.closed(ends)
    marks = []
    for who, estimate in scores:
        left = width = None
        if estimate.low is not None and estimate.high is not None:
            left = _percent(scale, estimate.low)
            width = round(_percent(scale, estimate.high) - left, 2)
        dot = None if estimate.value is None else _percent(scale, estimate.value)
        marks.append(Mark(who, estimate, dot, left, width))
    low, high = (metric.scale.shown(end).removesuffix(".0") for end in scale)
    return Chart(metric, low, high, marks)


def _percent(scale: Scale, value: float) -> float:
    return round(100 * scale.place(value), 2)


class Small(NamedTuple):
    """The scores of models on what has one value of a label; `n` are its units."""

    value: str
    n: str
    marks: list[Mark]


class Multiples(NamedTuple):
    """A small drawing for each value of a label, all on one axis."""

    low: str
    high: str
    parts: list[Small]


def multiples(
    metric: MetricShown, models: Sequence[Who], parts: Sequence[tuple[str, str, Sequence[Estimate]]]
) -> Multiples:
    """The drawings of parts, (value, n, scores in the order of the models); an axis without an end ends
    with the scores of all."""
    ends = [end for *_, scores in parts for of in scores for end in (of.value, of.low, of.high)]
    closed = metric._replace(scale=metric.scale.closed(ends))
    charts = [chart(closed, list(zip(models, scores, strict=True))) for *_, scores in parts]
    low, high = (metric.scale.shown(end).removesuffix(".0") for end in closed.scale)
    return Multiples(
        low,
        high,
        [Small(value, n, of.marks) for (value, n, _), of in zip(parts, charts, strict=True)],
    )


class Axis(NamedTuple):
    """One ability: its number beside the axis, and the axis' end."""

    number: int
    name: str
    end: Place
    label: Place


class Shape(NamedTuple):
    """One model: the corners as an SVG's points, None where an ability has no score; and its dots."""

    who: Who
    points: str | None
    dots: list[tuple[Place, str]]


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
            Axis(place + 1, name, _corner(place, n, RADIUS), _corner(place, n, NUMBERS))
            for place, name in enumerate(names)
        ],
        [_polygon([ring] * n) or "" for ring in RINGS],
        _polygon([None if mean is None else scale.place(mean) for mean in means]),
        [_shape(who, column, names, scale) for who, column in zip(models, columns, strict=True)],
    )


def _shape(who: Who, column: Sequence[Estimate], names: Sequence[str], scale: Scale) -> Shape:
    shares = [
        None if estimate.value is None else scale.place(estimate.value) for estimate in column
    ]
    return Shape(
        who,
        _polygon(shares),
        [
            (_corner(place, len(names), share * RADIUS), f"{name}: {estimate.shown}")
            for place, (name, estimate, share) in enumerate(zip(names, column, shares, strict=True))
            if share is not None
        ],
    )


def _mean(row: Sequence[Estimate]) -> float | None:
    known = [estimate.value for estimate in row if estimate.value is not None]
    return fmean(known) if known else None


def _polygon(shares: Sequence[float | None]) -> str | None:
    """The points at these shares of the axes, as an SVG has them; None where one is lacking."""
    corners = []
    for place, share in enumerate(shares):
        if share is None:
            return None
        corners.append("{:g},{:g}".format(*_corner(place, len(shares), share * RADIUS)))
    return " ".join(corners)


def _corner(place: int, n: int, distance: float) -> Place:
    angle = 2 * pi * place / n
    # Adding 0 makes 0.0 of -0.0.
    return round(distance * sin(angle), 1) + 0.0, round(-distance * cos(angle), 1) + 0.0


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


class Placed(NamedTuple):
    """One model of the list below the plot."""

    number: int
    who: Who
    mean: Estimate
    alignment: Estimate
    n_groups: int
    quadrant: str


class Quadrants(NamedTuple):
    """How good a model is against how steady (AlignMMBench, Figure 1).

    The horizontal axis has the mean that is shown first, the other one the alignment score: the metric
    that is the inverse of a spread. A score that is infinite stands on a line above the axis, and an
    interval without an upper end reaches up to it. `middle` are the medians of the models, the lines
    between the quadrants; `without` are the models that have no alignment score.
    """

    mean: MetricShown
    alignment: MetricShown
    points: list[Point]
    lines: list[Placed]
    without: list[Who]
    middle: tuple[float, float]
    across: list[Tick]
    up: list[Tick]
    has_infinite: bool


def quadrants_of(judged: Judged, order: Sequence[Who]) -> Quadrants | None:
    """The plot of one judge's scores; None where nothing is the inverse of a spread."""
    alignment = next((metric for metric in judged.metrics if metric.inverse), None)
    mean = judged.metrics[0]
    if alignment is None or mean.inverse or mean.scale.low is None or mean.scale.high is None:
        return None
    models = [who for who in order if who.is_model]
    scores = {
        who: (judged.estimate(who.name, mean), judged.estimate(who.name, alignment))
        for who in models
    }
    placed = [who for who in models if None not in (estimate.value for estimate in scores[who])]
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
        lines.append(Placed(number, who, of_mean, of_alignment, row.get("n_units", 0), quadrant))
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


def quadrants(judged: Judged, order: Sequence[Who]) -> list[block.Block]:
    """The plot of one judge's scores with the numbers of it below; nothing where there is no plot."""
    plot = quadrants_of(judged, order)
    if plot is None:
        return []
    best = max(plot.lines, key=lambda line: line.alignment.value or 0.0, default=None)
    finding = f"Highest {plot.alignment.name.lower()}: {best.who.name}" if best else "Not known"
    return block.folded(_quadrants(plot), finding)


def _quadrants(plot: Quadrants) -> Iterator[block.Block]:
    mean, alignment = plot.mean.name, plot.alignment.name
    yield block.Heading("Performance and steadiness")
    yield block.Note(
        said(QUADRANTS, mean=mean, averaged=plot.mean.averaged.lower(), alignment=alignment)
    )
    if plot.lines:
        yield block.Drawing("quadrants", plot)
        heads = [Cell("No."), *block.heads("Model", mean, alignment, "Groups")]
        yield block.Table(
            "Performance and steadiness",
            [*heads, Cell("Beside the medians", kind="l")],
            [_line(line) for line in plot.lines],
            "looking",
        )
        if plot.has_infinite:
            yield block.Note(INFINITE_SCORE)
    if plot.without:
        names = ", ".join(who.name for who in plot.without)
        yield block.Note(said(WITHOUT, alignment=alignment.lower(), names=names))


def _line(of: Placed) -> list[Cell]:
    infinite = math.isinf(of.alignment.value or 0.0)
    return [
        Cell(str(of.number)),
        block.who(of.who),
        block.tinted(of.mean),
        Cell(of.alignment.shown, [of.alignment.interval or "no interval"]),
        Cell(str(of.n_groups), kind="n quiet"),
        Cell(of.quadrant, [ALL_ALIKE.format(n=of.n_groups)] if infinite else [], ""),
    ]


def _points(lines: Sequence[Placed], scale: Scale) -> list[Point]:
    """Models at one place are one point, so that their numbers can be read."""
    places: dict[tuple[int, int], list[Placed]] = {}
    for line in lines:
        x, y = _across(line.mean.value, line.mean.scale), _up(line.alignment.value, scale)
        places.setdefault((round(x / BESIDE), round(y / BESIDE)), []).append(line)
    points = []
    for group in places.values():
        for line in group:
            mean, alignment = line.mean, line.alignment
            points.append(
                Point(
                    ", ".join(str(placed.number) for placed in group) if line is group[0] else "",
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
