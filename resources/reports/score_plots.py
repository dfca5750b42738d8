"""The report's plots: scores of models with their intervals, and what a release consists of.

What belongs here: which numbers are drawn where. The page that shows them is
`templates/report.html`.
"""

from collections.abc import Mapping, Sequence
from statistics import median

from resources.reports.estimate import Estimate
from resources.reports.figures import (
    INK,
    PALETTE,
    SOFT,
    TEXT,
    cut,
    new_figure,
    set_title,
    style_axes,
    svg_source,
)
from resources.reports.fonts import drawable, font_for

WIDTH = 7.6
"""Inches: a page of 800 pixels shows a plot at its full size."""
MAX_CHARACTERS = 48
MIN_BINS, MAX_BINS = 6, 12
_MARKERS = "osD^vPX"
"""One for each round through the colours."""


def scores_plot(scores: Mapping[str, Sequence[Estimate]], dimensions: Sequence[str]) -> str | None:
    """Means with 95 % intervals by dimension, models below each other in their order.

    `scores` has the estimates of each model, as many as there are `dimensions`. The plot is a `data:`
    address of an SVG; None where no model has a score.
    """
    import numpy as np
    from matplotlib.font_manager import FontProperties

    n_models = len(scores)
    drawn = [
        (number, name) for number, name in enumerate(scores) if scores[name][0].value is not None
    ]
    if not drawn:
        return None
    figure = new_figure(WIDTH, 1.0 + len(dimensions) * (0.16 + 0.1 * n_models) + 0.08 * n_models)
    axes = figure.add_subplot()
    font = font_for(scores)
    for number, name in drawn:
        shift = 0.8 * ((number + 1) / (n_models + 1) - 0.5)
        means = [mean for mean in scores[name] if mean.value is not None]
        values = np.array([mean.value for mean in means], dtype=float)
        low, high = np.array([_interval(mean) for mean in means], dtype=float).T
        axes.errorbar(
            values,
            [group + shift for group, mean in enumerate(scores[name]) if mean.value is not None],
            xerr=[values - low, high - values],
            fmt=_MARKERS[number // len(PALETTE) % len(_MARKERS)],
            color=PALETTE[number % len(PALETTE)],
            markersize=4.5,
            linewidth=1.4,
            clip_on=False,
            label=drawable(font, cut(name, MAX_CHARACTERS)),
        )
    axes.set_xlim(0, 100)
    axes.set_ylim(len(dimensions) - 0.5, -0.5)
    axes.set_yticks(range(len(dimensions)), dimensions)
    axes.set_xlabel("score, 0 to 100, with 95 % interval")
    style_axes(axes, "x")
    axes.tick_params(axis="y", labelcolor=INK)
    for edge in range(1, len(dimensions)):
        axes.axhline(edge - 0.5, color=SOFT, linewidth=0.4)
    figure.legend(
        loc="outside lower left",
        ncols=3,
        frameon=False,
        prop=FontProperties(fname=font, size=TEXT),
        labelcolor=INK,
    )
    return svg_source(figure)


def counts_plot(
    counted: Mapping[str, Sequence[int]], units: Sequence[tuple[str, str]]
) -> str | None:
    """Histograms side by side: title -> values. `units` are what each counts, and in what it counts it.

    A `data:` address of an SVG; None where there is no value at all.
    """
    from matplotlib.ticker import MaxNLocator

    if not any(counted.values()):
        return None
    figure = new_figure(WIDTH, 2.5)
    panels = figure.subplots(1, len(counted), squeeze=False)[0]
    for axes, (title, values), (unit, of) in zip(panels, counted.items(), units, strict=True):
        set_title(axes, title)
        axes.set_xlabel(unit)
        axes.set_ylabel(of)
        style_axes(axes, "y")
        if not values:
            axes.set_axis_off()
            continue
        counts, edges, bars = axes.hist(
            values, bins=bin_edges(values), color=PALETTE[0], alpha=0.75, rwidth=0.88
        )
        axes.bar_label(bars, [f"{n:.0f}" if n else "" for n in counts], color=SOFT, fontsize=7.5)
        axes.margins(y=0.12)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    return svg_source(figure)


def bin_edges(values: Sequence[int]) -> list[float]:
    """Edges of 6 to 12 bins of equal width, half-way between whole numbers."""
    from matplotlib.ticker import MaxNLocator

    low, high = min(values), max(values)
    if high - low < MIN_BINS:
        # A bar as wide as the plot would not look like a distribution.
        low = max(0, low - (MIN_BINS - 1 - high + low) // 2)
        high = max(high, low + MIN_BINS - 1)
    if high - low < MAX_BINS:
        return [number - 0.5 for number in range(low, high + 2)]
    ticks = MaxNLocator(MAX_BINS - 1, integer=True, steps=[1, 2, 5, 10]).tick_values(low, high + 1)
    return [float(tick) - 0.5 for tick in ticks]


def summary(values: Sequence[int]) -> str:
    """The values in words."""
    if not values:
        return "nothing to show"
    return f"n = {len(values)}, median {median(values):g}, range {min(values)}–{max(values)}"


def _interval(mean: Estimate) -> tuple[float | None, float | None]:
    """The ends of the interval; where there is none, the mean itself."""
    if mean.low is None or mean.high is None:
        return mean.value, mean.value
    return mean.low, mean.high
