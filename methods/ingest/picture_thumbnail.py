"""Thumbnails by which images are compared: small squares without a frame, kept as JPEG.

An image is decoded once; every later comparison reads its thumbnail.
"""

import io
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ingest.picture import on_white, upright_transpose

Grey = NDArray[np.float32]
"""Grey levels 0 to 255 of a square, shape (side, side)."""
Colour = NDArray[np.float32]
"""Chroma (Cb and Cr less 128) of a square, shape (2, COLOUR_SIDE, COLOUR_SIDE)."""
Miniature = NDArray[np.float32]
"""Grey levels of a small square, shape (MINIATURE_SIDE, MINIATURE_SIDE)."""
Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, in pixels."""
Turn = Literal["none", "mirrored", "quarter", "half", "three quarters"]
"""How an image is turned: left and right exchanged, or by quarters of a turn, counterclockwise."""
TURNS: tuple[Turn, ...] = get_args(Turn)

SIDE, MINIATURE_SIDE, COLOUR_SIDE = 128, 32, 32
"""Pixels of a side of thumbnails, and of the smaller squares that are made from them."""

_QUALITY = 92
_QUARTERS = {"quarter": 1, "half": 2, "three quarters": 3}
_FRAME_SIDE = 512
"""Pixels of the square in which a frame is looked for."""
_FRAME_LEVELS = 24
"""A pixel that differs less from the corners' grey is of the frame; what JPEG adds stays below."""
_MAX_STRAY = 0.02
"""Share of a line's pixels that may differ in the frame."""
_MIN_EDGE = 0.25
"""Share of a line's pixels that differ where the image begins, at least."""
_FRAME_EDGE = 6
"""Lines over which an edge may be blurred by scaling and compression."""
_MIN_INSIDE = 0.5
"""Share of each side that is inside, at least."""


class SquareImage(NamedTuple):
    """The levels of a thumbnail."""

    grey: Grey
    colour: Colour

    def turned(self, turn: Turn) -> "SquareImage":
        """The levels of the turned image."""
        return SquareImage(turned(self.grey, turn), turned(self.colour, turn))

    def miniature(self) -> Miniature:
        """The grey levels of the small square."""
        return _reduced(self.grey, MINIATURE_SIDE)


def thumbnail(data: bytes) -> bytes:
    """Make the thumbnail of an image: the part inside its frame, upright, on white, stretched.

    Args:
        data: The image's file.

    Returns:
        An RGB JPEG with SIDE pixels a side.
    """
    with Image.open(io.BytesIO(data)) as image:
        # Lets the JPEG decoder skip detail that resizing would drop.
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        shown = on_white(image, "RGB")
        turn = upright_transpose(image)
        if turn is not None:
            shown = shown.transpose(turn)
    box = inside_frame(shown.convert("L"))
    shown = shown.resize((SIDE, SIDE), Image.Resampling.BILINEAR, box, reducing_gap=2.0)
    file = io.BytesIO()
    shown.save(file, "JPEG", quality=_QUALITY, subsampling=0)
    return file.getvalue()


def square(thumbnail: bytes) -> SquareImage:
    """Decode a thumbnail."""
    with Image.open(io.BytesIO(thumbnail)) as image:
        image.draft("YCbCr", image.size)
        levels = np.asarray(image.convert("YCbCr"), dtype=np.float32)
    colour = [_reduced(levels[:, :, plane] - 128, COLOUR_SIDE) for plane in (1, 2)]
    return SquareImage(np.ascontiguousarray(levels[:, :, 0]), np.stack(colour))


def turned(planes: NDArray[Any], turn: Turn) -> NDArray[Any]:
    """Turn images whose rows and columns are the last two axes."""
    if turn == "mirrored":
        return np.ascontiguousarray(planes[..., ::-1])
    return np.ascontiguousarray(np.rot90(planes, _QUARTERS.get(turn, 0), axes=(-2, -1)))


def _reduced(levels: Grey, side: int) -> Grey:
    """Means of blocks of pixels."""
    step = len(levels) // side
    means: Grey = levels.reshape(side, step, side, step).mean(axis=(1, 3))
    return means


def inside_frame(grey: Image.Image) -> Box:
    """The part of a grey picture that is inside its frame; all of it if it has none.

    A frame is a border of one brightness on all four sides, with a sharp inner edge. The dark sky
    around a nebula, or the paper around a drawing, is none: it has no edge.
    """
    small = np.asarray(
        grey.resize((_FRAME_SIDE, _FRAME_SIDE), Image.Resampling.BOX), dtype=np.int16
    )
    corners = small[[0, 0, -1, -1], [0, -1, 0, -1]]
    differs = np.abs(small - np.median(corners)) > _FRAME_LEVELS
    if not differs[[0, 0, -1, -1], [0, -1, 0, -1]].any():
        rows = _between_edges(differs)
        columns = _between_edges(differs[slice(*rows)].T) if rows else None
        if rows and columns:
            (upper, lower), (left, right) = rows, columns
            across, down = grey.width / _FRAME_SIDE, grey.height / _FRAME_SIDE
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
    sharp = np.flatnonzero(share[other[0] : other[0] + _FRAME_EDGE] >= _MIN_EDGE)
    # A line of the frame that is left would be detail that all pictures in such a frame share.
    return int(other[0] + sharp[0]) + _FRAME_EDGE if len(sharp) else None
