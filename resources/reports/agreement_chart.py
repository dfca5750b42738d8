"""The figure of inter-annotator agreement, and of agreement between people and LLM judges."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from resources.reports import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RATERS = 40
"""The most lines in the figure; further lines are only in the table. Groups of all raters
and judges come before pairs."""
MOST_RATER_NAME = 72
IN_POINTS = "mae"
"""The only measure in points of the score (mean absolute error); all others are coefficients up to
1."""

Row = Mapping[str, Any]
Line = tuple[str, str, str]
"""Kind, dimension and raters of a line in the figure."""


def agreement_figure(rows: Sequence[Row]) -> "Figure | None":
    """Draw the measures of agreement with 95 % confidence intervals, one line for each group of raters.

    Args:
        rows: The rows of `review.agreement` or `evaluate.judge_agreement`.

    Returns:
        The figure, with coefficients on the left, and errors in points on the right if there are any;
        None if no row has a value.
    """
    with_value = [row for row in rows if row["value"] is not None]
    lines = sorted({_line(row) for row in with_value}, key=_together_first)
    if not lines:
        return None
    n_left_out = max(0, len(lines) - MOST_RATERS)
    lines = sorted(lines[:MOST_RATERS])
    panels = [
        [
            row
            for row in with_value
            if _line(row) in lines and (row["measure"] == IN_POINTS) is in_points
        ]
        for in_points in (False, True)
    ]
    panels = [panel for panel in panels if panel]
    figure = figures.new_figure(10, 1.8 + 0.42 * len(lines))
    axes = figure.subplots(
        1, len(panels), sharey=True, squeeze=False, width_ratios=[3, 1][: len(panels)]
    )[0]
    colours = dict(
        zip(sorted({row["measure"] for row in with_value}), figures.PALETTE, strict=False)
    )
    for axis, panel in zip(axes, panels, strict=True):
        _draw_measures(axis, panel, lines, colours)
    figures.name_ticks(
        axes[0].set_yticks, range(len(lines)), [" · ".join(line) for line in lines], MOST_RATER_NAME
    )
    axes[0].set_ylim(len(lines) - 0.5, -0.5)
    figure.legend(
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=figures.TEXT,
        labelcolor=figures.INK,
    )
    if n_left_out:
        figure.suptitle(
            f"{n_left_out} more are in the table", color=figures.SOFT, fontsize=figures.TEXT
        )
    return figure


def _draw_measures(
    axis: Any, rows: Sequence[Row], lines: Sequence[Line], colours: Mapping[str, str]
) -> None:
    measures = sorted({row["measure"] for row in rows})
    for number, measure in enumerate(measures):
        of_measure = [row for row in rows if row["measure"] == measure]
        # The measures of one line are drawn one below the other.
        shift = 0.6 * ((number + 1) / (len(measures) + 1) - 0.5)
        axis.errorbar(
            [row["value"] for row in of_measure],
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
    in_points = measures == [IN_POINTS]
    figures.set_title(axis, "Distance of scores" if in_points else "Agreement")
    axis.set_xlabel(
        "points, with 95 % interval" if in_points else "coefficient, with 95 % interval"
    )
    if in_points:
        axis.set_xlim(0, 1.08 * max(row["high"] for row in rows) or 1.0)
    else:
        axis.set_xlim(min(0, *(row["low"] for row in rows)) - 0.05, 1.05)
    axis.axvline(0, color=figures.SOFT, linewidth=0.8)
    figures.style_axes(axis, "x")


def _line(row: Row) -> Line:
    return row["kind"], row["dimension"], row["raters"]


def _together_first(line: Line) -> tuple[bool, Line]:
    return line[2] != "all" and not line[2].startswith("people|"), line
