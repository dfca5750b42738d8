"""Thumbnails for image deduplication: small squares without the frame of the image, stored as JPEG.

An image is decoded only once. Later comparisons read its thumbnail.
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
"""Chroma (Cb and Cr minus 128) of a square, shape (2, COLOUR_SIDE, COLOUR_SIDE)."""
Miniature = NDArray[np.float32]
"""Grey levels of a small square, shape (MINIATURE_SIDE, MINIATURE_SIDE)."""
Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, in pixels."""
Turn = Literal["none", "mirrored", "quarter", "half", "three quarters"]
"""How an image is turned: left and right exchanged, or by quarter turns counterclockwise."""
TURNS: tuple[Turn, ...] = get_args(Turn)

SIDE, MINIATURE_SIDE, COLOUR_SIDE = 128, 32, 32
"""Pixels of a side of thumbnails, and of the grey and chroma squares that are reduced from them."""

_QUALITY = 92
_QUARTERS = {"quarter": 1, "half": 2, "three quarters": 3}
_FRAME_SIDE = 512
"""Side, in pixels, of the reduced square in which frames are detected."""
_FRAME_LEVELS = 24
"""A pixel whose grey differs from the corners by at most this many levels belongs to the frame. JPEG
artefacts stay below it."""
_MAX_STRAY = 0.02
"""Share of the pixels of a line of the frame that may differ."""
_MIN_EDGE = 0.25
"""Least share of the pixels of a line that differ at the inner edge of the frame."""
_FRAME_EDGE = 6
"""Lines over which scaling and compression may blur the inner edge of the frame."""
_MIN_INSIDE = 0.5
"""Least share of the width and height inside a frame. A thicker border is no frame."""


class SquareImage(NamedTuple):
    """The grey and chroma levels of a decoded thumbnail."""

    grey: Grey
    colour: Colour

    def turned(self, turn: Turn) -> "SquareImage":
        """Return the levels of the turned image."""
        return SquareImage(turned(self.grey, turn), turned(self.colour, turn))

    def miniature(self) -> Miniature:
        """Reduce the grey levels to a miniature."""
        return _reduced(self.grey, MINIATURE_SIDE)


def thumbnail(data: bytes) -> bytes:
    """Make the thumbnail of an image: its part inside the frame, upright, on white, stretched to a
    square.

    Args:
        data: The image's file.

    Returns:
        An RGB JPEG with SIDE pixels a side.
    """
    with Image.open(io.BytesIO(data)) as image:
        # Lets the JPEG decoder skip detail that resizing would remove.
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
    """Turn images whose last two axes are rows and columns."""
    if turn == "mirrored":
        return np.ascontiguousarray(planes[..., ::-1])
    return np.ascontiguousarray(np.rot90(planes, _QUARTERS.get(turn, 0), axes=(-2, -1)))


def _reduced(levels: Grey, side: int) -> Grey:
    """Reduce a square to `side` pixels by averaging blocks of pixels."""
    step = len(levels) // side
    means: Grey = levels.reshape(side, step, side, step).mean(axis=(1, 3))
    return means


def inside_frame(grey: Image.Image) -> Box:
    """Find the part of a grey image inside its frame; the whole image if it has no frame.

    A frame is a border of one brightness on all four sides, with a sharp inner edge. The dark sky
    around a nebula, or the paper around a drawing, has no such edge and is no frame.
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
    """The first line inside a frame and the line after the last one; None if an edge is missing."""
    share = differs.mean(axis=1)
    before, behind = _first_inside(share), _first_inside(share[::-1])
    if before is None or behind is None or len(share) - behind - before < _MIN_INSIDE * len(share):
        return None
    return before, len(share) - behind


def _first_inside(share: NDArray[np.float64]) -> int | None:
    """The first line after a frame's inner edge; None if there is no frame or no sharp edge."""
    other = np.flatnonzero(share > _MAX_STRAY)
    if not len(other) or other[0] == 0:
        return None
    sharp = np.flatnonzero(share[other[0] : other[0] + _FRAME_EDGE] >= _MIN_EDGE)
    # The blurred lines are skipped: any rest of the frame would make all framed images look similar.
    return int(other[0] + sharp[0]) + _FRAME_EDGE if len(sharp) else None
