"""Whether two pictures show the same pixels: re-encoded, scaled, cropped, framed, marked or mirrored
copies.

What belongs here: aligning two small grey pictures and comparing them. What does not: which
pictures are compared (`picture_candidates.py`), groups of near-duplicates (`near_duplicates.py`).

A perceptual hash keeps coarse brightness, in which dark pictures with something bright in the
middle are alike. Here a picture is moved and stretched onto the other one (gain and offset of
brightness are free), and then fine detail is compared, which different pictures do not share. Drawings
of one template do (flags, charts, staves): so what differs in brightness or colour must be little.
"""

import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from methods.ingest.picture import on_white, upright_transpose
from methods.ingest.picture_frame import inside_frame

Grey = NDArray[np.float32]
"""Grey levels 0 to 255 of pictures stretched to squares, shape (side, side)."""
Colour = NDArray[np.float32]
"""Their chroma (Cb and Cr less 128), shape (2, COLOUR_SIDE, COLOUR_SIDE)."""

SIDE = 128
"""Pixels of the square that pictures are compared at: finer detail is lost in small copies."""
MIN_CORRELATION = 0.65
"""Least correlation of fine detail in two pictures that are the same."""
MIN_COARSE = 0.6
"""Least correlation of coarse brightness: with less, the detail is not looked at."""
MIN_COMMON = 0.5
"""Least share of the square that both pictures show."""
MAX_DIFFERING = 0.07
"""Largest share of it in which two pictures that are the same differ: a mark on one of them."""

_STEPS = ((16, 5), (32, 4), (64, 3))
"""Sides in pixels at which pictures are aligned, coarse to fine, and iterations at each."""
_NEIGHBOURHOOD = 9
"""Detail is what differs from the mean of a square of so many pixels a side."""
_BLOCK = 16
"""Pixels of a side of the blocks in which detail is compared."""
_SMOOTH, _EDGE = 7, 3
"""Pixels of a side over which brightness is averaged before it is compared, and those left out at the
edge of what both show: what is aligned is so to about a pixel."""
_OTHER_GREY, _OTHER_COLOUR = 24, 30
"""Levels, of 255, from which brightness or colour differs."""
COLOUR_SIDE = 32
_COLOURED = 6
"""Mean chroma of a picture that is not in grey alone."""


class Match(NamedTuple):
    """Correlations of two aligned pictures, -1 to 1, the share of the square that both show, and the
    share of that in which they differ."""

    coarse: float
    detail: float
    common: float
    differing: float = 0.0

    @property
    def is_same(self) -> bool:
        """Whether the two are copies of one picture."""
        return (
            self.detail >= MIN_CORRELATION
            and self.common >= MIN_COMMON
            and self.differing <= MAX_DIFFERING
        )


class Square(NamedTuple):
    """What is inside the frame of a picture, upright, on white, stretched to a square."""

    grey: Grey
    colour: Colour

    def mirrored(self) -> "Square":
        """Left and right exchanged."""
        return Square(np.fliplr(self.grey), self.colour[:, :, ::-1])


def square(data: bytes) -> Square:
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
    return Square(np.asarray(shown.convert("L"), dtype=np.float32), colour)


def best_match(one: Square, other: Square, scale: float, mirrored: bool) -> Match:
    """`match` as the codes of the pictures suggest, and if they are not the same, uncropped."""
    ways = dict.fromkeys([(scale, mirrored), (1.0, mirrored), (1.0, False)])
    best = Match(0.0, 0.0, 0.0)
    for each, turned in ways:
        found = match(one, other.mirrored() if turned else other, each)
        best = max(best, found, key=lambda of: of.detail)
        if best.is_same:
            break
    return best


def match(one: Square, other: Square, scale: float = 1.0) -> Match:
    """Align `one` with `other` and compare them.

    `scale` is the share of each side of `one` that `other` is thought to show, in its middle. Scale and
    shift of each axis are found by least squares (Lucas and Kanade, IJCAI 1981), coarse to fine.
    """
    place = np.array([scale, 0.0, scale, 0.0])
    coarse = 0.0
    for side, n_iterations in _STEPS:
        a, b = _reduced(one.grey, side), _reduced(other.grey, side)
        for _ in range(n_iterations):
            place = _improved(a, b, place)
        moved, common = _moved(a, place)
        coarse = _correlation(moved, b, common)
        if coarse < MIN_COARSE:
            return Match(coarse, 0.0, float(common.mean()))
    moved, common = _moved(one.grey, place)
    detail = _correlation_of_detail(moved, other.grey, common)
    if detail < MIN_CORRELATION:
        return Match(coarse, detail, float(common.mean()))
    differing = max(
        _differing_in_grey(moved, other.grey, common),
        _differing_in_colour(one.colour, other.colour, place),
    )
    return Match(coarse, detail, float(common.mean()), differing)


def _reduced(grey: Grey, side: int) -> Grey:
    step = len(grey) // side
    return grey.reshape(side, step, side, step).mean(axis=(1, 3))


class _Axis(NamedTuple):
    """Linear interpolation along one axis: weights, their derivative, and which pixels are inside."""

    weights: Grey
    slope: Grey
    inside: NDArray[np.bool_]
    at: NDArray[np.float32]


def _axis(scale: float, shift: float, side: int) -> _Axis:
    at = (np.arange(side) + 0.5) / side * 2 - 1
    position = (scale * at + shift + 1) / 2 * side - 0.5
    inside = (position >= -0.5) & (position <= side - 0.5)
    position = np.clip(position, 0, side - 1.001)
    low = position.astype(np.intp)
    part = position - low
    rows = np.arange(side)
    weights = np.zeros((side, side), dtype=np.float32)
    slope = np.zeros((side, side), dtype=np.float32)
    weights[rows, low], weights[rows, low + 1] = 1 - part, part
    slope[rows, low], slope[rows, low + 1] = -side / 2, side / 2
    return _Axis(weights, slope, inside, at.astype(np.float32))


def _moved(grey: Grey, place: NDArray[np.float64]) -> tuple[Grey, NDArray[np.bool_]]:
    """The picture at its place on the other one, and which pixels both show."""
    y, x = _axis(place[0], place[1], len(grey)), _axis(place[2], place[3], len(grey))
    moved = np.asarray(y.weights @ grey @ x.weights.T, dtype=np.float32)
    return moved, y.inside[:, None] & x.inside


def _improved(a: Grey, b: Grey, place: NDArray[np.float64]) -> NDArray[np.float64]:
    """The place after one step of Gauss and Newton."""
    y, x = _axis(place[0], place[1], len(a)), _axis(place[2], place[3], len(a))
    along_x = a @ x.weights.T
    moved, common = y.weights @ along_x, y.inside[:, None] & x.inside
    if not common.any():
        return place
    down, right = y.slope @ along_x, y.weights @ (a @ x.slope.T)
    columns = [down * y.at[:, None], down, right * x.at, right, moved, np.ones_like(moved)]
    system = np.stack([column[common] for column in columns], axis=1).astype(np.float64)
    target = b[common].astype(np.float64)
    # Brightness first, because steps are in units of it.
    flat = system[:, 4:]
    gain = np.linalg.solve(flat.T @ flat + 1e-6 * np.eye(2), flat.T @ target)
    system[:, :4] *= gain[0]
    rest = target - flat @ gain
    weighted = system / _outlying(rest)[:, None]
    normal = weighted.T @ system
    damping = np.repeat([1e-3 * np.trace(normal[:4, :4]) / 4 + 1e-6, 1e-6], [4, 2])
    step = np.linalg.solve(normal + np.diag(damping), weighted.T @ rest)[:4]
    made = place + np.clip(step, -0.1, 0.1)
    made[[0, 2]] = np.clip(made[[0, 2]], 0.6, 1.6)
    made[[1, 3]] = np.clip(made[[1, 3]], -0.4, 0.4)
    return made


def _outlying(rest: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far each residual lies out, from 1: the inverse of Cauchy's weights.

    What is on one picture only, such as a mark, must not pull at what is fitted.
    """
    return np.asarray(1 + (rest / (3 * np.median(np.abs(rest)) + 1e-6)) ** 2)


def _correlation(one: Grey, other: Grey, common: NDArray[np.bool_]) -> float:
    """Pearson's correlation over the common pixels; 0 if one of the two is uniform there."""
    if common.mean() < MIN_COMMON:
        return 0.0
    a, b = one[common].astype(np.float64), other[common].astype(np.float64)
    a, b = a - a.mean(), b - b.mean()
    norm = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / norm) if norm > 1e-6 * len(a) else 0.0


def _correlation_of_detail(one: Grey, other: Grey, common: NDArray[np.bool_]) -> float:
    """Mean of the blocks' correlations, each weighted by the smaller of the detail's two variances.

    So a block counts only if both pictures have detail there: a mark on one of them counts little.
    """
    whole = _blocks(common).all(axis=1)
    if not whole.any():
        return 0.0
    a, b = _blocks(_detail(one))[whole], _blocks(_detail(other))[whole]
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    of_a, of_b = (a * a).mean(axis=1), (b * b).mean(axis=1)
    # Copies may have another contrast.
    gain = np.clip(np.median(of_b / (of_a + 1e-6)), 1 / 16, 16)
    weight = np.minimum(of_a * gain, of_b)
    correlation = (a * b).mean(axis=1) / np.sqrt(of_a * of_b + 1e-9)
    return float((correlation * weight).sum() / (weight.sum() + 1e-6))


def _differing_in_grey(one: Grey, other: Grey, common: NDArray[np.bool_]) -> float:
    """Share of the common pixels whose brightness differs, gain and offset fitted."""
    from scipy.ndimage import binary_erosion, uniform_filter

    inner = binary_erosion(common, iterations=_EDGE)
    if not inner.any():
        return 1.0
    a, b = (uniform_filter(each, _SMOOTH)[inner].astype(np.float64) for each in (one, other))
    columns = np.stack([a, np.ones_like(a)], axis=1)
    rest = b - columns @ np.linalg.lstsq(columns, b, rcond=None)[0]
    for _ in range(5):
        weighted = columns / _outlying(rest)[:, None]
        fitted = np.linalg.solve(weighted.T @ columns + 1e-6 * np.eye(2), weighted.T @ b)
        rest = b - columns @ fitted
    return float((np.abs(rest) > _OTHER_GREY).mean())


def _differing_in_colour(one: Colour, other: Colour, place: NDArray[np.float64]) -> float:
    """Share of the common pixels whose colour differs, saturation fitted; 0 if one is in grey alone."""
    moved = [_moved(plane, place) for plane in one]
    common = moved[0][1]
    a = np.stack([plane for plane, _ in moved])[:, common]
    b = other[:, common]
    if min(np.hypot(*a).mean(), np.hypot(*b).mean()) < _COLOURED:
        return 0.0
    gain = np.clip((a * b).sum() / (a * a).sum(), 0.5, 2)
    return float((np.hypot(*(b - gain * a)) > _OTHER_COLOUR).mean())


def _detail(grey: Grey) -> Grey:
    """What differs from the mean of the neighbourhood."""
    from scipy.ndimage import uniform_filter

    difference: Grey = grey - uniform_filter(grey, _NEIGHBOURHOOD, mode="nearest")
    return difference


def _blocks(values: NDArray[Any]) -> NDArray[Any]:
    """The values of each block, shape (blocks, pixels)."""
    n = len(values) // _BLOCK
    return values.reshape(n, _BLOCK, n, _BLOCK).swapaxes(1, 2).reshape(n * n, -1)
