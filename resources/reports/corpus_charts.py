"""The map of a corpus: a scatter plot of its entries in two dimensions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from resources.reports import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def map_figure(dots: Sequence[MapDot], layers: Sequence[MapLayer], width: float) -> "Figure":
    """Plot entries on a plane, coloured by layer. The first layer is on top.

    Args:
        dots: The entries.
        layers: The layers. Each mark of the SVG carries the index of its dot (`data-n`).
        width: Width in inches.
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
                figures.label_marks(marks, numbers, "data-n")
    return figure
