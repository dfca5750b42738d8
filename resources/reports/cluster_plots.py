"""Pictures that do not move, as PNG: what the UI shows beside an asset.

What belongs here: the map and the sizes of clusters, drawn by matplotlib without its global state.
"""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PIL import Image

from resources.reports.cluster_layers import FEW_POINTS, PALETTE, Point, layers, size_bars
from resources.reports.fonts import drawable, font_for

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

INK, SOFT, RULE = "#1a2127", "#56616b", "#dcdfe2"
MAX_CHARACTERS = 30
DPI = 110


def map_png(points: Sequence[Point]) -> bytes:
    """Entries where the map has them, coloured by group; centres of clusters are ringed."""
    from matplotlib.figure import Figure
    from matplotlib.font_manager import FontProperties

    figure = Figure(figsize=(9, 5.4), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.set_axis_off()
    # Square points.
    dot = 16 if len(points) <= FEW_POINTS else 5
    for layer in reversed(layers(points)):
        # Clustered ones over the others, so that a cluster is not hidden by what surrounds it.
        for clustered in (False, True):
            chosen = [points[i] for i in layer.numbers if bool(points[i].cluster_id) == clustered]
            axes.scatter(
                [point.x for point in chosen],
                [point.y for point in chosen],
                s=[2.8 * dot if point.is_centre else dot for point in chosen],
                c=layer.colour,
                alpha=0.9 if clustered else 0.35,
                edgecolors=INK,
                linewidths=[0.9 if point.is_centre else 0 for point in chosen],
            )
    named = layers(points)
    font = font_for(layer.name for layer in named)
    texts = [drawable(font, f"{_cut(layer.name)} ({len(layer.numbers)})") for layer in named]
    figure.legend(
        [_dot(layer.colour) for layer in named],
        # A dollar sign would begin a formula.
        [text.replace("$", r"\$") for text in texts],
        loc="outside right upper",
        frameon=False,
        prop=FontProperties(fname=font, size=8.5),
        labelcolor=INK,
    )
    return png(figure)


def sizes_png(sizes: Sequence[int]) -> bytes:
    """How many clusters have how many entries, as bars."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(9, 2.8), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    bars = size_bars(sizes)
    drawn = axes.bar([label for label, _ in bars], [n for _, n in bars], color=PALETTE[0])
    axes.bar_label(drawn, labels=[str(n or "") for _, n in bars], color=SOFT, fontsize=8)
    axes.set_xlabel("entries in a cluster", color=SOFT)
    axes.set_ylabel("clusters", color=SOFT)
    axes.tick_params(colors=SOFT, length=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(RULE)
    axes.grid(axis="y", color=RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    return png(figure)


def _dot(colour: str) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="none", color=colour, markersize=6)


def _cut(name: str) -> str:
    return name if len(name) <= MAX_CHARACTERS else f"{name[: MAX_CHARACTERS - 1]}…"


def png(figure: "Figure") -> bytes:
    """The figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    # A palette is a third of the size, and pictures stand in Dagster's event log.
    small = io.BytesIO()
    Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        small, "PNG", optimize=True
    )
    return small.getvalue()
