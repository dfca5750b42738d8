"""matplotlib figures of scores: radar chart, scatter plot, intervals and heat map.

Each function makes one figure, for pages of the site, papers or Dagster's UI. `figures.py` has the
common style and the file formats. Other figures are in `item_charts.py` and `cluster_page.py`.
"""

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from methods.results.results_table import (
    COUNTS_BELOW,
    JudgeResults,
    is_significant,
    pair_difference,
)
from methods.results.shapes import RadarData, ScorePlane, ScorePoint
from resources.reports import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS: Mapping[str, float] = {"one-column": figures.COLUMN, "two-columns": 7.0}
"""Widths of figures in inches: 85 and 178 mm, the column and page widths of most journals."""
SMALL = 2.1
"""Width in inches of a figure that stands next to figures of the same kind."""
HEIGHT = 3.2
"""Height in inches of a figure without its legend."""
LINE = 0.15
"""Height in inches of a line of the legend."""
MARKS = "osD^vP*Xd<>p"
MOST_NAME, MOST_AXIS = 28, 15
MANY_AXES = 12
"""With more axes than this, their names are smaller, so that they do not overlap."""
N_RINGS = 4
ROOM = 0.14
"""Margin beyond the outermost ends of intervals, as a share of the range that the intervals span."""
INFINITE = 0.12
"""Distance of infinite values above the end of the finite axis, as a share of that axis."""
ASIDE = 0.09
"""Horizontal distance between the points of two settings at one turn, as a share of a turn."""

Legend = Literal["right", "below", "none"]


def paper_figures(
    name: str, n_models: int, draw: Callable[[float, float, Legend], "Figure"]
) -> Iterator[tuple[str, "Figure"]]:
    """Draw a figure with a legend as `in_widths` draws one without.

    Args:
        name: The name of the figure.
        n_models: Number of models in the legend.
        draw: Makes the figure from a width, a height and the place of the legend.
    """

    def in_width(width: float) -> "Figure":
        # The legend stands next to a wide figure, and below a narrow one in two columns.
        if width > figures.COLUMN:
            return draw(width, HEIGHT, "right")
        n_lines = 1 + math.ceil(min(n_models, len(figures.PALETTE)) / 2)
        return draw(width, HEIGHT + LINE * n_lines, "below")

    return in_widths(name, in_width)


def in_widths(name: str, draw: Callable[[float], "Figure"]) -> Iterator[tuple[str, "Figure"]]:
    """Draw a figure without a legend in each of `WIDTHS`, in print fonts.

    Args:
        name: The name of the figure.
        draw: Makes the figure from a width.

    Yields:
        The name of the file without its ending, and the figure.
    """
    for size, width in WIDTHS.items():
        with figures.in_print():
            yield f"{name}-{size}", draw(width)


def radar_figure(
    radar: RadarData, width: float, height: float, legend: Legend, words: Sequence[str] = ()
) -> "Figure":
    """Make a radar chart with a line for each model; axes run clockwise from the top.

    Args:
        radar: The axes and the scores.
        width: Width in inches.
        height: Height in inches.
        legend: Where the names of the models stand.
        words: Tooltips of the first line: a text for each of its scores.
    """
    figure = figures.new_figure(width, height, figures.PRINT_DPI)
    axes = figure.add_subplot(aspect="equal")
    axes.set_axis_off()
    low, high = radar.ends
    n = len(radar.axes)

    def corners(shares: Sequence[float]) -> tuple[list[float], list[float]]:
        angles = [2 * math.pi * place / n for place in range(n)]
        return (
            [share * math.sin(angle) for share, angle in zip(shares, angles, strict=True)],
            [share * math.cos(angle) for share, angle in zip(shares, angles, strict=True)],
        )

    rings = [ring for ring in _round(low, high) if low < ring < high]
    for ring in [*rings, high]:
        across, up = corners([(ring - low) / (high - low)] * n)
        axes.fill(across, up, fill=False, edgecolor=figures.RULE, linewidth=0.6)
    for x, y, name in zip(*corners([1.0] * n), radar.axes, strict=True):
        axes.plot([0, x], [0, y], color=figures.RULE, linewidth=0.6)
        axes.annotate(
            _wrapped(name),
            (x, y),
            xytext=(4 * x, 4 * y),
            textcoords="offset points",
            ha="center" if abs(x) < 0.2 else "left" if x > 0 else "right",
            va="center" if abs(y) < 0.2 else "bottom" if y > 0 else "top",
            color=figures.INK,
            fontsize=figures.PRINT_TEXT if n <= MANY_AXES else figures.PRINT_SMALL,
        )
    for ring in rings if legend != "none" else ():
        axes.annotate(
            f"{ring:g}",
            (0, (ring - low) / (high - low)),
            xytext=(2, 0),
            textcoords="offset points",
            va="center",
            color=figures.SOFT,
            fontsize=figures.PRINT_SMALL,
        )
    for number, ((model, values), style) in enumerate(zip(radar.lines, _styles(), strict=False)):
        shares = [
            math.nan if value is None else (min(max(value, low), high) - low) / (high - low)
            for value in values
        ]
        across, up = corners(shares)
        (line,) = axes.plot(
            [*across, across[0]],
            [*up, up[0]],
            label=_named(model),
            linewidth=1.1,
            markersize=3,
            clip_on=False,
            **style,
        )
        if words and not number:
            # The line ends where it begins.
            line_words = [*words, words[0]] if values[0] is not None else words
            figures.label_marks(line, line_words)
    axes.set_xlim(-1.05, 1.05)
    axes.set_ylim(-1.05, 1.05)
    _list(figure, axes, len(radar.lines), legend, f"{radar.title}; {low:g} is the middle")
    return figure


def plane_figure(
    plane: ScorePlane, width: float, height: float, legend: Legend, words: Sequence[str] = ()
) -> "Figure":
    """Make a scatter plot of two scores of each model, with intervals and lines at the medians.

    Without a legend the points have numbers, in the order of `plane.points`.

    Args:
        plane: The scores.
        width: Width in inches.
        height: Height in inches.
        legend: Where the names of the models stand.
        words: The tooltip of each point.
    """
    figure = figures.new_figure(width, height, figures.PRINT_DPI)
    axes = figure.add_subplot()
    across, up = _finite([x for _, x, _ in plane.points]), _finite([y for *_, y in plane.points])
    (left, right), (bottom, top) = _limits(across, plane.ends[0]), _limits(up, plane.ends[1])
    infinite = top + INFINITE * (top - bottom)
    has_infinite = any(math.isinf(end) for *_, y in plane.points for end in y)
    numbered: dict[tuple[int, int], list[int]] = {}
    styles = list(_styles()) if legend != "none" else [next(_styles())] * len(plane.points)
    for number, ((model, x, y), style) in enumerate(zip(plane.points, styles, strict=False)):
        place, low, high = (infinite if math.isinf(end) else end for end in y)
        bars = axes.errorbar(
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
        if words:
            figures.label_marks(bars.lines[0], [words[number]])
        at = (
            round(25 * (x.value - left) / (right - left)),
            round(20 * (place - bottom) / (top - bottom)),
        )
        numbered.setdefault(at, []).append(number)
    for places in numbered.values() if legend == "none" else ():
        _, x, y = plane.points[places[0]]
        axes.annotate(
            ", ".join(str(number + 1) for number in places),
            (x.value, infinite if math.isinf(y.value) else y.value),
            xytext=(4, -9),
            textcoords="offset points",
            color=figures.INK,
            fontsize=figures.PRINT_TEXT,
            weight="bold",
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
    title = f"95 % intervals, medians broken{without}"
    _list(figure, axes, len(plane.points), legend, title)
    return figure


class TurnScore(NamedTuple):
    """A score of one turn with its interval, 0 to 100; `words` is the tooltip of its point."""

    turn: int
    value: float
    low: float | None
    high: float | None
    words: str


def turns_figure(turns: Sequence[str], settings: Sequence[Sequence[TurnScore]]) -> "Figure":
    """Plot the scores of a model over the turns, a line for each setting.

    Args:
        turns: The names of turns 1, 2 and so on.
        settings: The scores of each of three settings. A setting without scores is empty: the other
            settings keep their colours.
    """
    figure = figures.new_figure(figures.COLUMN, 1.7, figures.PRINT_DPI)
    axes = figure.add_subplot()
    colours = (*figures.PALETTE[:2], figures.OTHER)
    for place, (scores, colour, mark) in enumerate(zip(settings, colours, "oDs", strict=True)):
        if scores:
            bars = axes.errorbar(
                [score.turn + ASIDE * (place - 1) for score in scores],
                [score.value for score in scores],
                yerr=[
                    [0.0 if score.low is None else score.value - score.low for score in scores],
                    [0.0 if score.high is None else score.high - score.value for score in scores],
                ],
                color=colour,
                marker=mark,
                markersize=4,
                linewidth=1.2,
                elinewidth=1.0,
                linestyle="--" if place else "-",
            )
            figures.label_marks(bars.lines[0], [score.words for score in scores])
    axes.set_xlim(0.5, len(turns) + 0.5)
    axes.set_ylim(-3, 103)
    axes.set_xticks(range(1, len(turns) + 1), turns)
    axes.set_yticks([0, 50, 100])
    figures.style_axes(axes, "y")
    return figure


def scores_figure(results: JudgeResults, width: float) -> "Figure":
    """Plot scores with their intervals, the best model first.

    Args:
        results: The scores.
        width: Width in inches.
    """
    rows = [row for row in results.models if row["value"] is not None]
    height = 0.8 + 0.24 * max(len(rows), 1)
    figure = figures.new_figure(width, height, figures.PRINT_DPI)
    axes = figure.add_subplot()
    places = range(len(rows))
    bounds = [
        [0.0 if row["ci_low"] is None else row["value"] - row["ci_low"] for row in rows],
        [0.0 if row["ci_high"] is None else row["ci_high"] - row["value"] for row in rows],
    ]
    axes.errorbar(
        [row["value"] for row in rows],
        places,
        xerr=bounds,
        fmt="o",
        markersize=3.5,
        linewidth=1.1,
        color=figures.PALETTE[0],
    )
    names = [_named(row["label"]) for row in rows]
    axes.set_yticks(places, names)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    name, aggregation = results.leading
    axes.set_xlabel(f"{name} ({aggregation}),\n95 % intervals over {results.n_clusters} clusters")
    figures.style_axes(axes, "x", figures.PRINT_TEXT)
    return figure


def differences_figure(results: JudgeResults, width: float) -> "Figure":
    """Make a heat map of the difference of every two models, row minus column.

    A dot marks a significant difference: its p-value after Holm's correction is below 0.05.

    Args:
        results: The scores and differences.
        width: Maximum width in inches.
    """
    pairs = results.pairs(results.leading)
    models = [row["model"] for row in results.models if any(row["model"] in pair for pair in pairs)]
    width = min(width, 3.2 + 0.42 * len(models))
    figure = figures.new_figure(width, 0.85 * width, figures.PRINT_DPI)
    axes = figure.add_subplot()

    def difference(first: str, second: str) -> float:
        comparison = pair_difference(pairs, first, second)
        if comparison is None or comparison[0]["difference"] is None:
            return math.nan
        row, sign = comparison
        return float(sign * row["difference"])

    values = [[difference(one, other) for other in models] for one in models]
    most = max((abs(value) for row in values for value in row if not math.isnan(value)), default=1)
    image = axes.imshow(values, cmap="RdBu", vmin=-most or -1, vmax=most or 1)
    for pair, row in pairs.items():
        if is_significant(row):
            first, second = models.index(pair[0]), models.index(pair[1])
            axes.plot([second, first], [first, second], "o", color=figures.INK, markersize=3)
    names = [_named(results.label(model)) for model in models]
    axes.set_yticks(range(len(models)), names, fontsize=figures.PRINT_TEXT)
    axes.set_xticks(range(len(models)), names, rotation=90, fontsize=figures.PRINT_TEXT)
    bar = figure.colorbar(image, shrink=0.8)
    bar.ax.tick_params(labelsize=figures.PRINT_SMALL)
    legend = f"row less column; a dot: p after Holm < {COUNTS_BELOW}"
    bar.set_label(textwrap.fill(legend, 28), fontsize=figures.PRINT_SMALL)
    return figure


# --- Parts of figures ------------------------------------------------------------------------------


def _list(figure: "Figure", axes: Any, n_models: int, legend: Legend, title: str) -> None:
    """Add the legend: the names of the models, and how many of all models are drawn."""
    if legend == "none":
        return
    handles, names = axes.get_legend_handles_labels()
    if n_models > len(names):
        title += f"; the best {len(names)} of {n_models} models"
    wide = legend == "right"
    drawn_legend = figure.legend(
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
    drawn_legend.get_title().set_color(figures.SOFT)


def _styles() -> Iterator[dict[str, Any]]:
    """Yield colours, markers and dashes, so that lines differ in black and white, too."""
    dashes = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)))
    for place, (color, marker) in enumerate(zip(figures.PALETTE, MARKS, strict=True)):
        yield {"color": color, "marker": marker, "linestyle": dashes[place % len(dashes)]}


def _finite(points: Sequence[ScorePoint]) -> list[float]:
    return [end for point in points for end in point if math.isfinite(end)]


def _limits(
    values: Sequence[float], ends: tuple[float | None, float | None]
) -> tuple[float, float]:
    """Return axis limits around the values with a margin; they span at least a tenth of the scale."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    whole = (ends[1] - ends[0]) if ends[0] is not None and ends[1] is not None else abs(high) or 1.0
    least = whole / 10
    if high - low < least:
        low, high = low - (least - high + low) / 2, high + (least - high + low) / 2
    room = ROOM * (high - low)
    return low - room, high + room


def _round(low: float, high: float) -> Sequence[float]:
    """Return about `N_RINGS` round numbers from about `low` to about `high`."""
    from matplotlib.ticker import MaxNLocator

    return list(map(float, MaxNLocator(N_RINGS + 1).tick_values(low, high)))


def _named(model: str) -> str:
    return figures.printable(figures.cut(model, MOST_NAME))


def _wrapped(name: str) -> str:
    """Wrap the name of an axis between words or after an underscore."""
    words = figures.cut(name, 3 * MOST_AXIS).replace("_", "_ ")
    lines = textwrap.wrap(words, MOST_AXIS, break_long_words=False)
    return figures.printable("\n".join(line.replace("_ ", "_") for line in lines))
