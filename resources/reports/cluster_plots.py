"""Static plots of the clustering as PNG, which Dagster's UI shows with an asset.

What belongs here: the map and the sizes of clusters. The interactive plots are in `cluster_page.py`.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from resources.reports.cluster_layers import FEW_POINTS, Point, layers, size_bars
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

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

MAX_CHARACTERS = 30


def map_png(points: Sequence[Point]) -> bytes:
    """The map: entries coloured by group; centres of clusters have a ring."""
    from matplotlib.font_manager import FontProperties

    figure = new_figure(9, 5.4)
    axes = figure.add_subplot()
    set_title(axes, "Entries by categories and caption: near ones are alike")
    axes.set_axis_off()
    # Marker area in square points.
    dot = 16 if len(points) <= FEW_POINTS else 5
    for layer in reversed(layers(points)):
        # Clustered entries on top of the others.
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
    legend = figure.legend(
        [_dot(layer.colour) for layer in named],
        [
            drawable(font, f"{cut(layer.name, MAX_CHARACTERS)} ({len(layer.numbers)})")
            for layer in named
        ],
        loc="outside right upper",
        frameon=False,
        prop=FontProperties(fname=font, size=TEXT),
        labelcolor=INK,
        title="group (entries)",
        title_fontsize=TEXT,
        alignment="left",
    )
    legend.get_title().set_color(SOFT)
    return png(figure)


def sizes_png(sizes: Sequence[int]) -> bytes:
    """The distribution of cluster sizes, as bars."""
    from matplotlib.ticker import MaxNLocator

    figure = new_figure(9, 2.8)
    axes = figure.add_subplot()
    bars = size_bars(sizes)
    drawn = axes.bar([label for label, _ in bars], [n for _, n in bars], color=PALETTE[0])
    axes.bar_label(drawn, labels=[str(n or "") for _, n in bars], color=SOFT, fontsize=TEXT)
    set_title(axes, "Sizes of clusters")
    axes.set_xlabel("entries in a cluster")
    axes.set_ylabel("clusters")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    style_axes(axes, "y")
    return png(figure)


def _dot(colour: str) -> "Line2D":
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="o", linestyle="none", color=colour, markersize=6)
