"""Whether two pictures show the same pixels: re-encoded, scaled, cropped, framed, marked, mirrored or
turned copies.

A perceptual hash keeps coarse brightness, in which dark pictures with something bright in the
middle are alike. Here a picture is moved and stretched onto the other one (gain and offset of
brightness are free), and then fine detail is compared, which different pictures do not share. Two
kinds of pictures carry little evidence, so that more of it is asked for. In a dark sky the detail is
in a few places: the fewer they are, the higher must its correlation be. Drawings of one template share
their lines (flags, charts, playing cards): what differs in brightness or colour must be little,
measured by what is not flat.

Most pairs are told apart by miniatures, many at a time (`best_alignment`); the rest one by one.
"""

import io
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ingest.picture import on_white, upright_transpose
from methods.ingest.picture_alignment import (
    Places,
    Stack,
    aligned,
    correlations,
    in_the_middle,
    moved,
    reduced,
)

Grey = NDArray[np.float32]
"""Grey levels 0 to 255 of pictures stretched to squares, shape (side, side)."""
Colour = NDArray[np.float32]
"""Their chroma (Cb and Cr less 128), shape (2, COLOUR_SIDE, COLOUR_SIDE)."""
Miniature = NDArray[np.uint8]
"""Grey levels of a small square, shape (MINIATURE_SIDE, MINIATURE_SIDE)."""
Box = tuple[float, float, float, float]
"""Left, upper, right and lower edge, in pixels."""
Turn = Literal["none", "mirrored", "quarter", "half", "three quarters"]
"""How a picture is turned: left and right exchanged, or by quarters of a turn, counterclockwise."""
TURNS: tuple[Turn, ...] = get_args(Turn)

VERSION = 2
"""Raised when the same files give other miniatures or another match: all are compared again."""
SIDE, MINIATURE_SIDE = 128, 32
"""Pixels of the squares that pictures are compared at: finer detail is lost in small copies."""
MIN_COARSE, MIN_FIRST_DETAIL = 0.6, 0.6
"""Least correlations of two miniatures, of brightness and of detail: with less, their squares are not
compared."""
MIN_EVIDENCE = 0.5
"""Least lower bound of the correlation of fine detail in two pictures that are the same."""
MIN_COMMON = 0.5
"""Least share of the square that both pictures show."""
MAX_DIFFERING = 0.2
"""Largest share in which two pictures that are the same differ, a mark on one of them, at an evidence
of 1; it grows with the fourth power of that."""

_QUARTERS = {"quarter": 1, "half": 2, "three quarters": 3}
_FIRST_SIDE, _FIRST_STEPS, _SECOND_STEPS = 16, 5, 4
"""Miniatures are aligned at this side first; steps then, and at their own side."""
_LOOKS_AT_ONCE = 64
"""Pairs of miniatures, each laid in two ways."""
_STEPS = ((64, 3), (SIDE, 1))
"""Sides at which squares are aligned after that, and steps at each."""
_NEIGHBOURHOOD = 9
"""Detail is what differs from the mean of a square of so many pixels a side."""
_EVENED, _FAINT = 11, 4
"""Pixels of a side over which contrast is evened, and levels that stay faint."""
_BLOCK, _ENOUGH = 16, 6
"""Pixels of a side of the blocks in which detail is compared, and the standard deviation of detail, in
levels, with which a block counts in full."""
_SMOOTH, _EDGE = 7, 3
"""Pixels of a side over which brightness is averaged before it is compared, and those left out at the
edge of what both show: what is aligned is so to about a pixel."""
_OTHER_GREY, _OTHER_COLOUR = 24, 30
"""Levels, of 255, from which brightness or colour differs."""
_FLAT, _LEAST_STRUCTURED = 8, 0.1
"""Standard deviation, in levels, up to which a place is flat; what is not counts as this share at
least."""
COLOUR_SIDE = 32
_COLOURED = 6
"""Mean chroma of a picture that is not in grey alone."""
_FRAME_SIDE = 512
"""Pixels of the square in which a frame is looked for."""
_FRAME_LEVELS = 24
"""A pixel that differs less from the corners' grey is of the frame; what JPEG adds stays below."""
_MAX_STRAY = 0.02
"""Share of a line's pixels that may differ in the frame."""
_MIN_EDGE = 0.25
"""Share of a line's pixels that differ where the picture begins, at least."""
_FRAME_EDGE = 6
"""Lines over which an edge may be blurred by scaling and compression."""
_MIN_INSIDE = 0.5
"""Share of each side that is inside, at least."""


class CopyGeometry(NamedTuple):
    """How one picture may be a copy of another: the share of each side that it shows, and its turn."""

    scale: float
    turn: Turn


UPRIGHT = CopyGeometry(1.0, "none")


class MiniatureMatch(NamedTuple):
    """What two miniatures tell: correlations of coarse brightness and of detail, -1 to 1, the share of
    the square that both show, and where, turned so, one lies on the other, shape (2, 3)."""

    coarse: float
    detail: float
    common: float
    turn: Turn
    place: NDArray[np.float64]

    @property
    def may_be_same(self) -> bool:
        """Whether it is worth comparing the squares."""
        return (
            self.coarse >= MIN_COARSE
            and self.detail >= MIN_FIRST_DETAIL
            and self.common >= MIN_COMMON
        )

    def as_match(self) -> "Match":
        """The match of a pair that is not worth more."""
        return Match(self.coarse, 0.0, self.common)


class Match(NamedTuple):
    """Correlations of two aligned pictures, -1 to 1, the share of the square that both show, the number
    of blocks that the detail is in, and the share of what is not flat in which they differ."""

    coarse: float
    detail: float
    common: float
    blocks: float = 0.0
    differing: float = 1.0

    @property
    def evidence(self) -> float:
        """The correlation of detail less its standard error, sqrt((1 - detail^2) / blocks)."""
        return self.detail - math.sqrt(max(0.0, 1 - self.detail**2) / max(1.0, self.blocks))

    @property
    def is_same(self) -> bool:
        """Whether the two are copies of one picture."""
        return (
            self.evidence >= MIN_EVIDENCE
            and self.common >= MIN_COMMON
            and self.differing <= MAX_DIFFERING * self.evidence**4
        )


class SquareImage(NamedTuple):
    """What is inside the frame of a picture, upright, on white, stretched to a square."""

    grey: Grey
    colour: Colour

    def turned(self, turn: Turn) -> "SquareImage":
        """As it is when the picture is turned."""
        return SquareImage(turned(self.grey, turn), turned(self.colour, turn))

    def miniature(self) -> Miniature:
        """The grey levels of the small square."""
        return np.rint(reduced(self.grey[None], MINIATURE_SIDE)[0]).astype(np.uint8)


def turned(planes: NDArray[Any], turn: Turn) -> NDArray[Any]:
    """Pictures turned; their rows and columns are the last two axes."""
    if turn == "mirrored":
        return planes[..., ::-1]
    return np.rot90(planes, _QUARTERS.get(turn, 0), axes=(-2, -1))


def square(data: bytes) -> SquareImage:
    """The square of SIDE pixels of a picture's file, and of COLOUR_SIDE pixels for its colours."""
    with Image.open(io.BytesIO(data)) as image:
        # Lets the JPEG decoder skip detail that resizing would drop.
        image.draft("RGB", (2 * SIDE, 2 * SIDE))
        shown = on_white(image, "RGB")
        turn = upright_transpose(image)
        if turn is not None:
            shown = shown.transpose(turn)
    box = inside_frame(shown.convert("L"))
    shown = shown.resize((SIDE, SIDE), Image.Resampling.BILINEAR, box, reducing_gap=2.0)
    small = shown.convert("YCbCr").reduce(SIDE // COLOUR_SIDE)
    colour = np.moveaxis(np.asarray(small, dtype=np.float32)[:, :, 1:] - 128, 2, 0)
    return SquareImage(np.asarray(shown.convert("L"), dtype=np.float32), colour)


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


def best_alignment(
    wholes: Sequence[Miniature], parts: Sequence[Miniature], ways: Sequence[CopyGeometry]
) -> list[MiniatureMatch]:
    """Align the miniatures of each pair as their codes suggest, and as they are; keep the better one.

    Args:
        wholes: The whole image of each pair.
        parts: The image of each pair that may be a part.
        ways: The geometry of each pair.

    Returns:
        The best alignment of each pair.
    """
    looks = []
    for start in range(0, len(ways), _LOOKS_AT_ONCE):
        some = slice(start, start + _LOOKS_AT_ONCE)
        looks += _best_looks(wholes[some], parts[some], ways[some])
    return looks


def _best_looks(
    wholes: Sequence[Miniature], parts: Sequence[Miniature], ways: Sequence[CopyGeometry]
) -> list[MiniatureMatch]:
    tries = [
        (row, way) for row, of_pair in enumerate(ways) for way in dict.fromkeys([of_pair, UPRIGHT])
    ]
    rows = [row for row, _ in tries]
    whole_batch = np.array([wholes[row] for row in rows], dtype=np.float32)
    part_batch = np.array([turned(parts[row], way.turn) for row, way in tries], dtype=np.float32)
    suggested = in_the_middle(np.array([way.scale for _, way in tries]))
    small, other_small = reduced(whole_batch, _FIRST_SIDE), reduced(part_batch, _FIRST_SIDE)
    other_evened = _evened(part_batch)
    places = (
        aligned(
            whole_batch,
            part_batch,
            aligned(small, other_small, suggested, _FIRST_STEPS),
            _SECOND_STEPS,
        ),
        aligned(_evened(whole_batch), other_evened, suggested, _SECOND_STEPS),
    )
    best: dict[int, MiniatureMatch] = {}
    for place in places:
        moved_wholes, common = moved(whole_batch, place)
        coarse = correlations(moved_wholes, part_batch, common)
        detail = correlations(_evened(moved_wholes), other_evened, common)
        of_tries = zip(tries, coarse, detail, common.mean(axis=(1, 2)), place, strict=True)
        for (row, way), of_coarse, of_detail, share, of_place in of_tries:
            look = MiniatureMatch(
                float(of_coarse), float(of_detail), float(share), way.turn, of_place
            )
            if row not in best or look.detail > best[row].detail:
                best[row] = look
    return [best[row] for row in range(len(ways))]


def match(square: SquareImage, other: SquareImage, look: MiniatureMatch) -> Match:
    """Compare two images, aligned from where their miniatures matched.

    Args:
        square: The first image.
        other: The second image, which is turned first.
        look: The turn and the alignment of the miniatures.

    Returns:
        The result of the comparison.
    """
    other = other.turned(look.turn)
    by_brightness = by_detail = look.place[None]
    ones, others = square.grey[None], other.grey[None]
    for side, n_steps in _STEPS:
        a, b = reduced(ones, side), reduced(others, side)
        by_brightness = aligned(a, b, by_brightness, n_steps)
        by_detail = aligned(_evened(a), _evened(b), by_detail, n_steps)
    matches = [_compared(square, other, place) for place in (by_brightness, by_detail)]
    return max(matches, key=lambda candidate: (candidate.is_same, candidate.evidence))


def _compared(square: SquareImage, other: SquareImage, place: Places) -> Match:
    """The match of two squares, one at its place on the other."""
    ones, others = square.grey[None], other.grey[None]
    moved_square, common = moved(ones, place)
    detail, blocks = _correlation_of_detail(moved_square[0], other.grey, common[0])
    compared = Match(
        float(correlations(moved_square, others, common)[0]), detail, float(common.mean()), blocks
    )
    if compared.evidence < MIN_EVIDENCE:
        return compared
    return compared._replace(
        differing=max(
            _differing_in_grey(moved_square[0], other.grey, common[0]),
            _differing_in_colour(square.colour, other.colour, place),
        )
    )


def _correlation_of_detail(
    grey: Grey, other: Grey, common: NDArray[np.bool_]
) -> tuple[float, float]:
    """Mean of the blocks' correlations, each weighted by the smaller of the detail's two variances, and
    the number of blocks that it rests on: (sum of weights)^2 / sum of squared weights.

    So a block counts only if both pictures have detail there: a mark on one of them counts little. None
    counts for more than one with `_ENOUGH`: the edges of a common frame must not outweigh all else.
    """
    whole = _blocks(common).all(axis=1)
    if not whole.any():
        return 0.0, 0.0
    a, b = _blocks(_detail(grey))[whole], _blocks(_detail(other))[whole]
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    of_a, of_b = (a * a).mean(axis=1), (b * b).mean(axis=1)
    # Copies may have another contrast.
    gain = np.clip(np.median(of_b / (of_a + 1e-6)), 1 / 16, 16)
    weight = np.minimum(np.minimum(of_a * gain, of_b), _ENOUGH**2)
    correlation = (a * b).mean(axis=1) / np.sqrt(of_a * of_b + 1e-9)
    detail = float((correlation * weight).sum() / (weight.sum() + 1e-6))
    return detail, float(weight.sum() ** 2 / ((weight * weight).sum() + 1e-9))


def _differing_in_grey(first: Grey, other: Grey, common: NDArray[np.bool_]) -> float:
    """What differs in brightness, gain and offset fitted, as a share of what is not flat."""
    from scipy.ndimage import binary_erosion, uniform_filter

    inner = binary_erosion(common, iterations=_EDGE)
    if not inner.any():
        return 1.0
    means, variances = [], []
    for brightness in (first, other):
        mean = uniform_filter(brightness, _SMOOTH)
        means.append(mean[inner].astype(np.float64))
        variances.append((uniform_filter(brightness * brightness, _SMOOTH) - mean * mean)[inner])
    structured = float((np.maximum(*variances) > _FLAT**2).mean())
    a, b = means
    columns = np.stack([a, np.ones_like(a)], axis=1)
    rest = b - columns @ np.linalg.lstsq(columns, b, rcond=None)[0]
    for _ in range(5):
        weighted = columns / _outlying(rest)[:, None]
        fitted = np.linalg.solve(weighted.T @ columns + 1e-6 * np.eye(2), weighted.T @ b)
        rest = b - columns @ fitted
    return float((np.abs(rest) > _OTHER_GREY).mean() / max(structured, _LEAST_STRUCTURED))


def _differing_in_colour(first: Colour, other: Colour, places: Places) -> float:
    """Share of the common pixels whose colour differs, saturation fitted; 0 if one is in grey alone."""
    moved_first, shown = moved(first, np.repeat(places, 2, axis=0))
    common = shown[0]
    a, b = moved_first[:, common], other[:, common]
    if min(np.hypot(*a).mean(), np.hypot(*b).mean()) < _COLOURED:
        return 0.0
    gain = np.clip((a * b).sum() / (a * a).sum(), 0.5, 2)
    return float((np.hypot(*(b - gain * a)) > _OTHER_COLOUR).mean())


def _outlying(rest: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 + (rest / (3 * np.median(np.abs(rest)) + 1e-6)) ** 2)


def _detail(grey: NDArray[np.float32], neighbourhood: int = _NEIGHBOURHOOD) -> NDArray[np.float32]:
    """What differs from the mean of the neighbourhood."""
    from scipy.ndimage import uniform_filter

    difference: Grey = grey - uniform_filter(grey, neighbourhood, mode="nearest", axes=(-2, -1))
    return difference


def _evened(greys: Stack) -> Stack:
    """The detail with the same contrast everywhere, so that faint and bright parts count alike."""
    from scipy.ndimage import uniform_filter

    detail = _detail(greys, _EVENED)
    variance = uniform_filter(detail * detail, _EVENED, mode="nearest", axes=(-2, -1))
    return np.asarray(detail / (np.sqrt(np.maximum(variance, 0)) + _FAINT) * 64)


def _blocks(values: NDArray[Any]) -> NDArray[Any]:
    """The values of each block, shape (blocks, pixels)."""
    n = len(values) // _BLOCK
    return values.reshape(n, _BLOCK, n, _BLOCK).swapaxes(1, 2).reshape(n * n, -1)
