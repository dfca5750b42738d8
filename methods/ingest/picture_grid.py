"""One numbered picture of several pictures.

What belongs here: the layout and the drawing. The same pictures give the same pixels.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from PIL import Image, ImageDraw, ImageFont

_LEAST_LABEL, _LABEL_PART = 12, 10
"""Pixels of the strip with a cell's number, at least, and which part of the cell it is."""
_GAP = 2
"""Pixels between a cell's edge and its picture."""


class Layout(NamedTuple):
    """Cells of a grid: columns, rows, the side of a cell and the height of its label, in pixels."""

    columns: int
    rows: int
    cell: int
    label: int

    @property
    def picture(self) -> int:
        """The longest side of a picture in its cell, in pixels."""
        return self.cell - self.label - 2 * _GAP


def lay_out(n_pictures: int, side: int) -> Layout:
    """The layout of a grid of at most `side` pixels a side, as near to a square as may be."""
    columns = math.ceil(math.sqrt(n_pictures))
    cell = side // columns
    return Layout(
        columns, math.ceil(n_pictures / columns), cell, max(_LEAST_LABEL, cell // _LABEL_PART)
    )


def draw_grid(
    n_pictures: int, side: int, picture: Callable[[int, int], Image.Image]
) -> Image.Image:
    """A grid of pictures with their numbers from 1, row by row, white on black above each.

    `picture(place, longest)` gives the picture of a place from 0, RGB, at most `longest` pixels a side;
    one is asked for at a time.
    """
    layout = lay_out(n_pictures, side)
    grid = Image.new("RGB", (layout.columns * layout.cell, layout.rows * layout.cell), "white")
    draw = ImageDraw.Draw(grid)
    font = ImageFont.load_default(layout.label - 2)
    longest = max(1, layout.picture)
    for place in range(n_pictures):
        row, column = divmod(place, layout.columns)
        left, top = column * layout.cell, row * layout.cell
        draw.rectangle((left, top, left + layout.cell - _GAP, top + layout.label - 1), fill="black")
        draw.text((left + _GAP, top), str(place + 1), fill="white", font=font)
        shown = picture(place, longest)
        width, height = shown.size
        across = left + (layout.cell - width) // 2
        grid.paste(shown, (across, top + layout.label + _GAP + (longest - height) // 2))
    return grid
