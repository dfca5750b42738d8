"""The section of a report on lengths: how many words answers have, beside the references.

What belongs here: the lines of its table, and where boxes stand on its axis, from the rows of
`methods/evaluation/answer_lengths.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from methods.evaluation.answer_lengths import REFERENCES
from resources.reports.report_board import Pane
from resources.reports.report_scores import Row


class Line(NamedTuple):
    """The references, or one model; places of the box in percent of the axis."""

    name: str
    n: int
    median: str
    quartiles: str
    range: str
    ratio: str
    low: float
    first_quartile: float
    median_at: float
    third_quartile: float
    high: float

    @property
    def is_reference(self) -> bool:
        """Whether the line is that of the references."""
        return self.name == REFERENCES


class Lengths(NamedTuple):
    """All lines, the references first, and the end of the axis in words."""

    lines: list[Line]
    longest: str


def lengths_of(data: Mapping[str, Any], panes: Sequence[Pane]) -> Lengths | None:
    """The section, models in the order of the first leaderboard; None where no model has answered."""
    rows = {row["model"]: row for row in data["answer_lengths"]}
    if len(rows) < 2:
        return None
    ranked = [who.name for pane in panes[:1] for who in pane.order if who.name in rows]
    others = [name for name in rows if name not in (REFERENCES, *ranked)]
    end = max(row["high"] for row in rows.values())
    lines = [_line(rows[name], end) for name in (REFERENCES, *ranked, *others)]
    return Lengths(lines, f"{end:.0f}")


def _line(row: Row, end: float) -> Line:
    def at(name: str) -> float:
        return round(100 * float(row[name]) / end, 2)

    return Line(
        row["model"],
        row["n"],
        f"{row['median']:.0f}",
        f"{row['first_quartile']:.0f}–{row['third_quartile']:.0f}",
        f"{row['low']:.0f}–{row['high']:.0f}",
        "–" if row["ratio"] is None else f"× {row['ratio']:.2f}",
        at("low"),
        at("first_quartile"),
        at("median"),
        at("third_quartile"),
        at("high"),
    )
