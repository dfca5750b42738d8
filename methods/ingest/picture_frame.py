"""The frame around a picture: a border of one brightness on all four sides, with a sharp inner edge.

What belongs here: finding such a frame, so that pictures are compared by what lies inside. The dark sky
around a nebula, or the paper around a drawing, is no frame: it has no edge.
"""

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_SIDE = 512
"""Pixels of the square in which a frame is looked for."""
_LEVELS = 24
"""A pixel that differs less from the corners' grey is of the frame; what JPEG adds stays below."""
_MAX_STRAY = 0.02
"""Share of a line's pixels that may differ in the frame."""
_MIN_EDGE = 0.25
"""Share of a line's pixels that differ where the picture begins, at least."""
_EDGE = 6
"""Lines over which an edge may be blurred by scaling and compression."""
_MIN_INSIDE = 0.5
"""Share of each side that is inside, at least."""

Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, in pixels."""


def inside_frame(grey: Image.Image) -> Box:
    """The part of a grey picture that is inside its frame; all of it if it has none."""
    square = np.asarray(grey.resize((_SIDE, _SIDE), Image.Resampling.BOX), dtype=np.int16)
    corners = square[[0, 0, -1, -1], [0, -1, 0, -1]]
    differs = np.abs(square - np.median(corners)) > _LEVELS
    if not differs[[0, 0, -1, -1], [0, -1, 0, -1]].any():
        rows = _between_edges(differs)
        columns = _between_edges(differs[slice(*rows)].T) if rows else None
        if rows and columns:
            (upper, lower), (left, right) = rows, columns
            across, down = grey.width / _SIDE, grey.height / _SIDE
            return left * across, upper * down, right * across, lower * down
    return 0, 0, *grey.size


def _between_edges(differs: NDArray[np.bool_]) -> tuple[int, int] | None:
    """The lines between a frame's two edges, first and end; None if it has not both."""
    share = differs.mean(axis=1)
    before, behind = _first_inside(share), _first_inside(share[::-1])
    if before is None or behind is None or len(share) - behind - before < _MIN_INSIDE * len(share):
        return None
    return before, len(share) - behind


def _first_inside(share: NDArray[np.float64]) -> int | None:
    """The first line behind a frame's edge; None if there is no frame or its edge is not sharp."""
    other = np.flatnonzero(share > _MAX_STRAY)
    if not len(other) or other[0] == 0:
        return None
    sharp = np.flatnonzero(share[other[0] : other[0] + _EDGE] >= _MIN_EDGE)
    # A line of the frame that is left would be detail that all pictures in such a frame share.
    return int(other[0] + sharp[0]) + _EDGE if len(sharp) else None
