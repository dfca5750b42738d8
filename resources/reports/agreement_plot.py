"""A plot of agreement: each measure with its interval, a line for each group of raters.

What belongs here: which rows of `review.agreement` are drawn where.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from resources.reports.figures import (
    INK,
    PALETTE,
    SOFT,
    TEXT,
    cut,
    drawable,
    font_for,
    new_figure,
    png,
    set_title,
    style_axes,
)

MAX_LINES = 40
"""More raters than that are in the table alone; all together and judges come before pairs."""
MAX_CHARACTERS = 72
POINTS = "mae"
"""The measure in points of the score; the others are coefficients up to 1."""

Row = Mapping[str, Any]
Line = tuple[str, str, str]
"""Kind, dimension, raters."""


def agreement_png(rows: Sequence[Row]) -> bytes | None:
    """Values with 95 % intervals: coefficients on the left, errors in points on the right where there
    are scores. `rows` are those of the table; None when none of them has a value."""
    from matplotlib.font_manager import FontProperties

    known = [row for row in rows if row["value"] is not None]
    lines = sorted({_line(row) for row in known}, key=_together_first)
    if not lines:
        return None
    n_left_out = max(0, len(lines) - MAX_LINES)
    lines = sorted(lines[:MAX_LINES])
    panels = [
        [row for row in known if _line(row) in lines and (row["measure"] == POINTS) is in_points]
        for in_points in (False, True)
    ]
    panels = [panel for panel in panels if panel]
    figure = new_figure(10, 1.8 + 0.42 * len(lines))
    axes = figure.subplots(
        1, len(panels), sharey=True, squeeze=False, width_ratios=[3, 1][: len(panels)]
    )[0]
    colours = dict(zip(sorted({row["measure"] for row in known}), PALETTE, strict=False))
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel, lines, colours)
    names = [cut(" · ".join(line), MAX_CHARACTERS) for line in lines]
    font = font_for(names)
    axes[0].set_yticks(
        range(len(lines)),
        [drawable(font, name) for name in names],
        fontproperties=FontProperties(fname=font, size=TEXT),
    )
    axes[0].set_ylim(len(lines) - 0.5, -0.5)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=TEXT, labelcolor=INK)
    if n_left_out:
        figure.suptitle(f"{n_left_out} more are in the table", color=SOFT, fontsize=TEXT)
    return png(figure)


def _draw(
    axis: Any, rows: Sequence[Row], lines: Sequence[Line], colours: Mapping[str, str]
) -> None:
    measures = sorted({row["measure"] for row in rows})
    for number, measure in enumerate(measures):
        of_measure = [row for row in rows if row["measure"] == measure]
        # Measures of one line stand one under the other.
        shift = 0.6 * ((number + 1) / (len(measures) + 1) - 0.5)
        values = [row["value"] for row in of_measure]
        axis.errorbar(
            values,
            [lines.index(_line(row)) + shift for row in of_measure],
            xerr=[
                [row["value"] - row["low"] for row in of_measure],
                [row["high"] - row["value"] for row in of_measure],
            ],
            fmt="o",
            markersize=4.5,
            linewidth=1.3,
            color=colours[measure],
            label=measure,
        )
    in_points = measures == [POINTS]
    set_title(axis, "Distance of scores" if in_points else "Agreement")
    axis.set_xlabel(
        "points, with 95 % interval" if in_points else "coefficient, with 95 % interval"
    )
    if in_points:
        axis.set_xlim(0, 1.08 * max(row["high"] for row in rows) or 1.0)
    else:
        axis.set_xlim(min(0, *(row["low"] for row in rows)) - 0.05, 1.05)
    axis.axvline(0, color=SOFT, linewidth=0.8)
    style_axes(axis, "x")


def _line(row: Row) -> Line:
    return row["kind"], row["dimension"], row["raters"]


def _together_first(line: Line) -> tuple[bool, Line]:
    return line[2] != "all" and not line[2].startswith("people|"), line
