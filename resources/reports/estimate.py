"""A mean with its interval, as the report's table shows it.

What belongs here: the wording and the tint of one cell. Plots of means are in `score_plots.py`.
"""

from typing import NamedTuple

_MISSING = "–"


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
    def shade(self) -> float:
        """How strongly the cell is tinted, 0 to 1."""
        return round(min(100.0, max(0.0, self.value or 0.0)) / 100, 3)
