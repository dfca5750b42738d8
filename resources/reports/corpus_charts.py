"""The map of a corpus: a scatter plot of its entries in two dimensions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from resources.reports import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAME = 28
"""Longer names of layers are cut to this many characters in the legend."""
FEW_DOTS = 1500
"""A map with more dots than this draws them smaller."""
DOTS = {"loose": (1.0, 0.35, 0.0), "clustered": (1.0, 0.9, 0.0), "centre": (2.8, 0.9, 0.9)}
"""Kind of dot -> (area, opacity, width of its ring). Later kinds are drawn on top."""


class MapDot(NamedTuple):
    """An entry on the map; `kind` is one of `DOTS`."""

    x: float
    y: float
    kind: str


class MapLayer(NamedTuple):
    """Dots with one colour and one name in the legend; `numbers` are the indexes of the dots."""

    name: str
    colour: str
    numbers: Sequence[int]


def map_figure(
    dots: Sequence[MapDot],
    layers: Sequence[MapLayer],
    width: float,
    legend: Literal["right", "none"] = "none",
) -> "Figure":
    """Plot entries on a plane, coloured by layer. The first layer is on top.

    Args:
        dots: The entries.
        layers: The layers. Each mark of the SVG carries the index of its dot (`data-n`).
        width: Width in inches.
        legend: Where the names of the layers stand.
    """
    figure = figures.new_figure(width, 0.6 * width)
    axes = figure.add_subplot()
    axes.set_axis_off()
    area = (16 if len(dots) <= FEW_DOTS else 5) * width / 9
    for layer in reversed(layers):
        for kind, (size, opacity, ring) in DOTS.items():
            numbers = [number for number in layer.numbers if dots[number].kind == kind]
            if numbers:
                marks = axes.scatter(
                    [dots[number].x for number in numbers],
                    [dots[number].y for number in numbers],
                    s=size * area,
                    c=layer.colour,
                    alpha=opacity,
                    edgecolors=figures.INK,
                    linewidths=ring,
                )
                figures.number_marks(marks, numbers)
    if legend != "none":
        figures.set_title(axes, "Entries by categories and caption: near ones are alike")
        _name_layers(figure, layers)
    return figure


def _name_layers(figure: "Figure", layers: Sequence[MapLayer]) -> None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.lines import Line2D

    font = figures.font_for(layer.name for layer in layers)
    legend = figure.legend(
        [
            Line2D([], [], marker="o", linestyle="none", color=layer.colour, markersize=6)
            for layer in layers
        ],
        [
            figures.drawable(font, f"{figures.cut(layer.name, MOST_NAME)} ({len(layer.numbers)})")
            for layer in layers
        ],
        loc="outside right upper",
        frameon=False,
        prop=FontProperties(fname=font, size=figures.TEXT),
        labelcolor=figures.INK,
        title="group (entries)",
        title_fontsize=figures.TEXT,
        alignment="left",
    )
    legend.get_title().set_color(figures.SOFT)
