"""Agreement as a picture: each measure with its interval, raters beside each other.

What belongs here: drawing rows of `review.agreement`, by matplotlib without its global state.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from resources.reports.cluster_layers import PALETTE
from resources.reports.cluster_plots import DPI, INK, RULE, SOFT, png
from resources.reports.fonts import drawable, font_for

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
    from matplotlib.figure import Figure
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
    figure = Figure(figsize=(10, 1.6 + 0.42 * len(lines)), dpi=DPI, layout="constrained")
    axes = figure.subplots(
        1, len(panels), sharey=True, squeeze=False, width_ratios=[3, 1][: len(panels)]
    )[0]
    colours = dict(zip(sorted({row["measure"] for row in known}), PALETTE, strict=False))
    for axis, panel in zip(axes, panels, strict=True):
        _draw(axis, panel, lines, colours)
    names = [_cut(" · ".join(line)) for line in lines]
    font = font_for(names)
    axes[0].set_yticks(
        range(len(lines)),
        # A dollar sign would begin a formula.
        [drawable(font, name).replace("$", r"\$") for name in names],
        fontproperties=FontProperties(fname=font, size=8.5),
    )
    axes[0].set_ylim(len(lines) - 0.5, -0.5)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8.5, labelcolor=INK)
    if n_left_out:
        figure.suptitle(f"{n_left_out} more are in the table", color=SOFT, fontsize=8.5)
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
    axis.set_xlabel("points apart" if in_points else "agreement, 95 % interval", color=SOFT)
    if in_points:
        axis.set_xlim(left=0)
    else:
        axis.set_xlim(min(0, *(row["low"] for row in rows)) - 0.05, 1.05)
    axis.axvline(0, color=SOFT, linewidth=0.8)
    axis.tick_params(colors=SOFT, length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.spines["bottom"].set_color(RULE)
    axis.grid(axis="x", color=RULE, linewidth=0.6)
    axis.set_axisbelow(True)


def _line(row: Row) -> Line:
    return row["kind"], row["dimension"], row["raters"]


def _together_first(line: Line) -> tuple[bool, Line]:
    return line[2] != "all" and not line[2].startswith("people|"), line


def _cut(name: str) -> str:
    return name if len(name) <= MAX_CHARACTERS else f"{name[: MAX_CHARACTERS - 1]}…"
