"""Geometry of the report's charts: where dots, whiskers and bars stand.

What belongs here: numbers to places, horizontal ones in percent of the chart's width, so that a
chart is as wide as its column and its text keeps its size. What does not: drawing and colours
(`templates/report.html`) and which numbers are shown (`resources/reports/benchmark_report.py`).
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

BAR_AREA = 92
"""Height in pixels of a histogram's highest bar."""

_MISSING = "–"
_MAX_BINS = 12
_MIN_BINS = 6
_MAX_TICKS = 7


class Estimate(NamedTuple):
    """A mean on the scale 0 to 100 with its interval; None where there is none."""

    value: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def shown(self) -> str:
        """The mean to one decimal, or a dash."""
        return _MISSING if self.value is None else f"{self.value:.1f}"

    @property
    def interval(self) -> str:
        """`low–high` to one decimal, or nothing."""
        return "" if self.low is None or self.high is None else f"{self.low:.1f}–{self.high:.1f}"

    @property
    def x(self) -> float | None:
        """Where the dot stands on the axis, in percent."""
        return on_axis(self.value)

    @property
    def whisker(self) -> tuple[float | None, float | None]:
        """Where the interval begins and ends on the axis, in percent."""
        return on_axis(self.low), on_axis(self.high)

    @property
    def shade(self) -> float:
        """How strongly a cell is tinted, 0 to 1."""
        return round((on_axis(self.value) or 0.0) / 100, 3)


class Bar(NamedTuple):
    """One bar; `x` and `width` in percent, `y` and `height` in pixels."""

    x: float
    width: float
    y: float
    height: float
    label: str
    n: int


class Histogram(NamedTuple):
    """A distribution: its bars, (percent, text) marks of the axis, and the numbers in words."""

    title: str
    bars: list[Bar]
    ticks: list[tuple[float, str]]
    summary: str


def on_axis(value: float | None) -> float | None:
    """`value` as a place on the axis from 0 to 100; what lies outside stands at its end."""
    return None if value is None else round(min(100.0, max(0.0, value)), 2)


def histogram(title: str, values: Sequence[int]) -> Histogram:
    """Bars of `values`, which count something: one bar a number or, over a wide range, a step."""
    if not values:
        return Histogram(title, [], [], "nothing to show")
    start, step, n_bins = _bins(min(values), max(values))
    counts = Counter((value - start) // step for value in values)
    highest = max(counts.values())
    slot = 100 / n_bins
    bars = [
        Bar(
            x=round((i + 0.06) * slot, 2),
            width=round(0.88 * slot, 2),
            y=round(BAR_AREA * (1 - counts[i] / highest), 1),
            height=round(BAR_AREA * counts[i] / highest, 1),
            label=_range(start + i * step, step),
            n=counts[i],
        )
        for i in range(n_bins)
        if counts[i]
    ]
    return Histogram(title, bars, _ticks(start, step, n_bins), _summary(values))


def _bins(lowest: int, highest: int) -> tuple[int, int, int]:
    """First edge, width and number of the bins."""
    step = next(
        step
        for exponent in range(20)
        for step in (10**exponent, 2 * 10**exponent, 5 * 10**exponent)
        if highest // step - lowest // step < _MAX_BINS
    )
    start = lowest // step * step
    n_bins = (highest - start) // step + 1
    if n_bins < _MIN_BINS:
        # Room on both sides: one bar as wide as the chart would not read as a distribution.
        start = max(0, start - (_MIN_BINS - n_bins) // 2 * step)
        n_bins = max(_MIN_BINS, (highest - start) // step + 1)
    return start, step, n_bins


def _ticks(start: int, step: int, n_bins: int) -> list[tuple[float, str]]:
    # A bar of one number is marked below its middle, a bar of several at its edges.
    shift, n_marks = (0.5, n_bins) if step == 1 else (0.0, n_bins + 1)
    every = -(-n_marks // _MAX_TICKS)
    return [
        (round((i + shift) * 100 / n_bins, 2), f"{start + i * step}")
        for i in range(0, n_marks, every)
    ]


def _range(first: int, step: int) -> str:
    return f"{first}" if step == 1 else f"{first}–{first + step - 1}"


def _summary(values: Sequence[int]) -> str:
    return f"n = {len(values)}, median {median(values):g}, range {min(values)}–{max(values)}"
