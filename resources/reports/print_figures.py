"""Radars and quadrants of results for papers: sizes of one and two columns, fonts of print.

What belongs here: drawing them. What they show is `methods/results/shapes.py`.
"""

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from methods.results.shapes import Plane, Point, Radar
from resources.reports import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS: Mapping[str, float] = {"one-column": 3.35, "two-columns": 7.0}
"""Inches: 85 and 178 mm, as most journals have them."""
HEIGHT = 3.2
"""Inches of a picture without its list of models."""
LINE = 0.15
"""Inches of a line of that list."""
MARKS = "osD^vP*Xd<>p"
MOST_NAME, MOST_AXIS = 28, 15
N_RINGS = 4
ROOM = 0.14
"""What is left beside the outermost ends of intervals, as a share of what they span."""
INFINITE = 0.12
"""How far above the highest finite number infinite ones stand, as a share of the axis."""

Draw = Callable[["Figure", bool], None]


def radar_figures(radar: Radar) -> Iterator[tuple[str, "Figure"]]:
    """The radar in each of `WIDTHS`, with the name of its file."""
    yield from _figures(radar.name, lambda figure, wide: _draw_radar(figure, radar, wide), radar)


def plane_figures(plane: Plane) -> Iterator[tuple[str, "Figure"]]:
    """The quadrants in each of `WIDTHS`, with the name of its file."""
    yield from _figures(plane.name, lambda figure, wide: _draw_plane(figure, plane, wide), plane)


def _figures(name: str, draw: Draw, of: Radar | Plane) -> Iterator[tuple[str, "Figure"]]:
    n_models = len(of.lines) if isinstance(of, Radar) else len(of.points)
    for size, width in WIDTHS.items():
        wide = size == "two-columns"
        # Beside the picture where there is room, else below it in two columns.
        height = HEIGHT + (0 if wide else LINE * (1 + math.ceil(min(n_models, _most()) / 2)))
        with figures.in_print():
            figure = figures.new_figure(width, height, figures.PRINT_DPI)
            draw(figure, wide)
        yield f"{name}-{size}", figure


def _draw_radar(figure: "Figure", radar: Radar, wide: bool) -> None:
    # Its own class of axes, which the types of matplotlib do not tell.
    axes: Any = figure.add_subplot(projection="polar")
    angles = [2 * math.pi * place / len(radar.axes) for place in range(len(radar.axes))]
    axes.set_theta_offset(math.pi / 2)
    axes.set_theta_direction(-1)
    low, high = radar.ends
    axes.set_ylim(low, high)
    rings = [ring for ring in _round(low, high) if low < ring <= high]
    axes.set_yticks(rings, [f"{ring:g}" for ring in rings], color=figures.SOFT)
    axes.tick_params(axis="y", labelsize=figures.PRINT_SMALL, pad=0)
    # Between two axes, where no line of a model has a corner.
    axes.set_rlabel_position(math.degrees(math.pi / len(radar.axes)))
    axes.set_xticks(angles, [_wrapped(name) for name in radar.axes], color=figures.INK)
    for label, angle in zip(axes.get_xticklabels(), angles, strict=True):
        across = math.sin(angle)
        label.set_ha("center" if abs(across) < 0.2 else "left" if across > 0 else "right")
    axes.tick_params(axis="x", pad=1)
    axes.grid(color=figures.RULE, linewidth=0.5)
    axes.spines["polar"].set(color=figures.RULE, zorder=0)
    shown = radar.lines[: _most()]
    for (model, values), style in zip(shown, _styles(), strict=False):
        known = [math.nan if value is None else value for value in values]
        axes.plot(
            [*angles, angles[0]],
            [*known, known[0]],
            label=_named(model),
            linewidth=1.1,
            markersize=3,
            clip_on=False,
            **style,
        )
    _list(figure, axes, len(radar.lines), wide, f"{radar.title}; {low:g} is the middle")


def _draw_plane(figure: "Figure", plane: Plane, wide: bool) -> None:
    axes = figure.add_subplot()
    across, up = _shown([x for _, x, _ in plane.points]), _shown([y for *_, y in plane.points])
    (left, right), (bottom, top) = _limits(across, plane.ends[0]), _limits(up, plane.ends[1])
    infinite = top + INFINITE * (top - bottom)
    has_infinite = any(math.isinf(end) for *_, y in plane.points for end in y)
    for (model, x, y), style in zip(plane.points[: _most()], _styles(), strict=False):
        place, low, high = (infinite if math.isinf(end) else end for end in y)
        axes.errorbar(
            [x.value],
            [place],
            xerr=[[x.value - x.low], [x.high - x.value]],
            yerr=[[place - low], [high - place]],
            label=_named(model),
            markersize=4,
            elinewidth=0.8,
            capsize=1.5,
            linestyle="none",
            clip_on=False,
            color=style["color"],
            marker=style["marker"],
        )
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, infinite + (infinite - top) / 2 if has_infinite else top)
    lines: dict[str, Any] = {
        "color": figures.SOFT,
        "linewidth": 0.7,
        "linestyle": (0, (4, 3)),
        "zorder": 1,
    }
    axes.axvline(plane.middle[0], **lines)
    axes.axhline(infinite if math.isinf(plane.middle[1]) else plane.middle[1], **lines)
    figures.style_axes(axes, "both", figures.PRINT_TEXT)
    if has_infinite:
        ticks = [tick for tick in axes.get_yticks() if bottom <= tick <= top]
        axes.set_yticks([*ticks, infinite], [*(f"{tick:g}" for tick in ticks), "∞"])
    for column, word in enumerate(plane.corners[0]):
        for row, other in enumerate(plane.corners[1]):
            axes.annotate(
                f"{word}, {other}",
                (column, row),
                xycoords="axes fraction",
                # Above the axes, and below all points.
                xytext=(-3 if column else 3, 3),
                textcoords="offset points",
                ha="right" if column else "left",
                va="bottom",
                color=figures.SOFT,
                fontsize=figures.PRINT_SMALL,
                style="italic",
            )
    axes.set_xlabel(plane.axes[0])
    axes.set_ylabel(plane.axes[1])
    without = f"; {plane.without} without {plane.axes[1]}" if plane.without else ""
    _list(figure, axes, len(plane.points), wide, f"95 % intervals, medians broken{without}")


def _list(figure: "Figure", axes: Any, n_models: int, wide: bool, title: str) -> None:
    """The names of the models, and how many of them are drawn."""
    handles, names = axes.get_legend_handles_labels()
    if n_models > len(names):
        title += f"; the best {len(names)} of {n_models} models"
    made = figure.legend(
        handles,
        names,
        loc="outside right center" if wide else "outside lower center",
        ncols=1 if wide else 2,
        title=textwrap.fill(title, 34 if wide else 60),
        frameon=False,
        fontsize=figures.PRINT_TEXT,
        title_fontsize=figures.PRINT_SMALL,
        handlelength=1.8,
        columnspacing=1.0,
        labelspacing=0.3,
        alignment="left",
    )
    made.get_title().set_color(figures.SOFT)


def _styles() -> Iterator[dict[str, Any]]:
    """Colours and marks, which tell lines apart in black and white, too."""
    dashes = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
    for place, (color, marker) in enumerate(zip(figures.PALETTE, MARKS, strict=True)):
        yield {"color": color, "marker": marker, "linestyle": dashes[place % len(dashes)]}


def _most() -> int:
    return len(figures.PALETTE)


def _shown(points: Sequence[Point]) -> list[float]:
    return [end for point in points for end in point if math.isfinite(end)]


def _limits(
    values: Sequence[float], ends: tuple[float | None, float | None]
) -> tuple[float, float]:
    """Limits that hold these numbers with some room, and a tenth of the scale at least."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    whole = (ends[1] - ends[0]) if ends[0] is not None and ends[1] is not None else abs(high) or 1.0
    least = whole / 10
    if high - low < least:
        low, high = low - (least - high + low) / 2, high + (least - high + low) / 2
    room = ROOM * (high - low)
    return low - room, high + room


def _round(low: float, high: float) -> Sequence[float]:
    """Round numbers from about `low` to about `high`."""
    from matplotlib.ticker import MaxNLocator

    return list(map(float, MaxNLocator(N_RINGS + 1).tick_values(low, high)))


def _named(model: str) -> str:
    return figures.printable(figures.cut(model, MOST_NAME))


def _wrapped(name: str) -> str:
    return figures.printable(textwrap.fill(figures.cut(name, 3 * MOST_AXIS), MOST_AXIS))
