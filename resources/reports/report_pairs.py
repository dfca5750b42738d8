"""Differences of a report as its tables show them.

What belongs here: a difference with its interval and p by Holm, and whether it counts. The tests are
`methods/evaluation/ranking.py`.
"""

from collections.abc import Mapping
from typing import NamedTuple

from resources.reports.report_input import Row
from resources.reports.report_scores import MetricShown

ALPHA = 0.05
FEW_CLUSTERS = 30
"""With fewer, more than that can be detected is missed (`methods/evaluation/statistics/power.py`)."""
TOO_FEW_CLUSTERS = 5
"""With so many or fewer no sign-flip test of two sides comes below 0.05: 2 / 2^5 = 0.0625."""


class Difference(NamedTuple):
    """The model of the line less that of the column; `verdict` is `better`, `worse` or empty."""

    difference: str
    interval: str
    p: str
    verdict: str


def between(
    rows: Mapping[tuple[str, str], Row], one: str, other: str, metric: MetricShown
) -> Difference | None:
    """The first model less the second, from rows of comparisons by pair, in either order."""
    row, sign = rows.get((one, other)), 1
    if row is None:
        row, sign = rows.get((other, one)), -1
    return None if row is None else difference_of(row, metric, sign)


def difference_of(
    row: Row, metric: MetricShown, sign: int = 1, of: str = "difference"
) -> Difference | None:
    """The difference of a row, or with `sign` -1 that of the second less the first; None without one.

    It stands in the column `of`.
    """
    difference = row[of]
    if difference is None:
        return None
    scale = metric.scale
    ends = [sign * end for end in (row["ci_low"], row["ci_high"]) if end is not None]
    verdict = ""
    if row["p_holm"] is not None and row["p_holm"] < ALPHA:
        # Differences are of means of units, which fall where an inverse metric rises.
        wanted = metric.higher_is_better != metric.inverse
        verdict = "better" if (sign * difference > 0) == wanted else "worse"
    return Difference(
        scale.difference(sign * difference),
        " to ".join(scale.difference(end) for end in sorted(ends)),
        in_words(row["p_holm"]),
        verdict,
    )


def in_words(p: float | None) -> str:
    """p as a table shows it."""
    if p is None:
        return "no test"
    return "p < 0.001" if p < 0.001 else f"p = {p:.2f}" if p >= 0.095 else f"p = {p:.3f}"
