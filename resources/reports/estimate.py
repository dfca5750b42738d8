"""A score with its confidence interval, formatted for the report on the scale of its metric."""

import math
from collections.abc import Iterable
from typing import NamedTuple

from methods.evaluation.statistics.estimates import mark_indicative
from methods.naming import decimal_text

_MISSING = "–"
_COARSE = 20.0
"""Numbers on a scale at least this wide have one decimal, on a smaller scale two."""


class Scale(NamedTuple):
    """The ends of a metric's scale; None for an open end."""

    low: float | None = 0.0
    high: float | None = 100.0

    @property
    def span(self) -> float:
        """The width of the scale; infinite if an end is missing."""
        return math.inf if self.low is None or self.high is None else self.high - self.low

    @property
    def decimals(self) -> int:
        """The number of decimals of a number on the scale."""
        return 1 if _COARSE <= self.span < math.inf else 2

    def shown(self, value: float | None) -> str:
        """Format a number on the scale; a dash if it is missing."""
        if value is None or math.isnan(value):
            return _MISSING
        if math.isinf(value):
            return "∞" if value > 0 else "−∞"
        return decimal_text(value, self.decimals)

    def difference(self, value: float | None) -> str:
        """Format a difference of two numbers on the scale, with its sign."""
        shown = self.shown(value)
        above = value is not None and value > 0 and shown.strip("0.") != ""
        return f"+{shown}" if above else shown

    def place(self, value: float) -> float:
        """Return the position of a value between the ends, 0 to 1; 0 if the scale lacks an end."""
        if self.low is None or self.high is None:
            return 0.0
        if self.high == self.low or math.isinf(value):
            return 1.0 if value > self.low else 0.0
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def closed(self, values: Iterable[float | None]) -> "Scale":
        """Replace open ends of the scale by the lowest and the highest finite value."""
        finite = [value for value in values if value is not None and math.isfinite(value)]
        if (self.low is not None and self.high is not None) or not finite:
            return Scale(self.low or 0.0, 1.0 if self.high is None else self.high)
        low = min(finite) if self.low is None else self.low
        return Scale(low, max(finite) if self.high is None else self.high)


def over(ends: str, n_clusters: int | None) -> str:
    """Format an interval with the number of clusters, marked if they are few.

    Args:
        ends: The text of the interval.
        n_clusters: The number of clusters.
    """
    shown = mark_indicative(ends, n_clusters)
    return shown if n_clusters is None or not ends else f"{shown}, C\xa0=\xa0{n_clusters}"


class ReportEstimate(NamedTuple):
    """A score with its interval; None for missing values."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    scale: Scale = Scale()
    n_clusters: int | None = None

    @property
    def shown(self) -> str:
        """The score, or a dash."""
        return self.scale.shown(self.value)

    @property
    def interval(self) -> str:
        """`low–high, C = clusters`; empty without an interval."""
        if self.low is None or self.high is None:
            return ""
        # A dash before a minus sign would be hard to read.
        between = " to " if self.low < 0 else "–"
        ends = f"{self.scale.shown(self.low)}{between}{self.scale.shown(self.high)}"
        return over(ends, self.n_clusters)

    @property
    def shade(self) -> float:
        """How strongly the cell is tinted, 0 to 1."""
        return 0.0 if self.value is None else round(self.scale.place(self.value), 3)
