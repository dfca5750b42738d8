"""Image deduplication: decides from two thumbnails whether two images are copies of one image.

OpenCV's ECC (Evangelidis and Psarakis, TPAMI 2008) aligns the two images after their local contrast is
normalized. Then the structure (local contrast) around each pixel is compared. Copies differ in at most
one region, such as a watermark or caption on one of them, called the mark. A mark may hide structure
in a photograph, which has enough other structure. Different graphics of one template (charts, clocks,
screens) also differ in one region, but in that region each of them has structure that the other one
lacks. So a mark in a graphic must add structure to one of the two, and the rest must agree.

Last, one global change, such as a colour cast, grey or sepia, must turn the colours of one image into
those of the other. The limit is tighter for graphics, because a recoloured icon has the same structure.

The private constants are limits and sizes that were chosen by hand.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.ingest.picture_thumbnail import (
    COLOUR_SIDE,
    MINIATURE_SIDE,
    SIDE,
    Grey,
    Miniature,
    SquareImage,
    Turn,
    turned,
)

Affine = NDArray[np.float32]
"""Affine matrix that maps a point of one image to the other image, in pixels, shape (2, 3)."""
Mask = NDArray[np.bool_]
Vector = NDArray[np.floating[Any]]

VERSION = 3
"""The version of thumbnails and matches. If it is raised, all images are compared again."""

MIN_FIRST_CORRELATION, MIN_CORRELATION = 0.5, 0.3
"""Least ECC correlation of aligned miniatures, and of aligned thumbnails."""
MIN_COMMON = 0.5
"""Least share of the thumbnail that both images show."""
MIN_EVIDENCE, MIN_EVIDENCE_GRAPHIC = 0.65, 0.8
"""Least `Match.evidence` (correlation of structure minus three standard errors) of copies, and of
graphics with a mark."""
MANY_COARSE_LEVELS, MANY_LEVELS = 6.5, 10
"""Least grey levels of photographs: `Match.coarse_levels` and `Match.levels`. Graphics have fewer."""
MIN_TURNED_CORRELATION = 0.98
"""Least correlation of graphics of which one is turned. A turned clock face shows another time."""
MAX_DIFFERING, MAX_DIFFERING_GRAPHIC = 0.026, 0.008
"""Largest share of the structure outside the mark that differs, in photographs and in graphics."""
MAX_OTHER_COLOUR, MAX_OTHER_COLOUR_GRAPHIC = 24, 14
"""Largest `Match.other_colour`, in levels, for images with many grey levels and for others."""

_EVENED, _FAINT = 11, 4
"""Side, in pixels, of the window in which contrast is normalized, and the standard deviation, in
levels, below which contrast is hardly amplified."""
_STEPS = ((SIDE // 2, 25), (SIDE, 8))
"""Sizes at which thumbnails are aligned, coarse to fine, and the most iterations at each size."""
_FIRST_ITERATIONS, _ENOUGH, _DOTS = 25, 1e-3, 28
"""Alignment of miniatures: the most iterations, the change of the correlation at which iterations stop,
and the contrast, in levels, of the dots that are added to striped images."""
_SCALES, _SHEAR, _SHIFT = (0.5, 1.7), 0.35, 0.25
"""Limits of an alignment: scale, shear, and shift as a share of the side."""
_SMOOTH = 1.5
"""Standard deviation, in pixels, of the smoothing before structure is compared."""
_WINDOW, _GAP = 9, 15
"""Side, in pixels, of the window around each pixel in which structure is compared, and of the gaps that
a mark may have, for example between the letters of a text."""
_EDGE = 7
"""Side, in pixels, of the window that must lie inside both images for a pixel to be compared."""
_FLAT, _NOISE = 6, 30
"""Standard deviation, in levels, up to which a window is flat, and a constant in the denominator of its
correlation that keeps noise from correlating."""
_MIN_WINDOW_CORRELATION = 0.4
"""A window with a lower correlation differs."""
_FULL_WEIGHT = 24
"""Windows are weighted by their standard deviation, up to this one, in levels."""
_STRAY, _MAX_MARK = 0.004, 0.2
"""Up to this share of differing structure there is no mark. A mark's bounding box is at most the second
share of the thumbnail."""
_HIDDEN, _ADDED, _ADDED_INSIDE = 0.05, 0.2, 0.6
"""The largest share of the difference that hides structure in a graphic, and the least share that adds
structure, at an edge of the graphic and inside it."""
_ALL_HIDDEN, _ALL_ADDED, _MAX_ADDED = 0.02, 0.85, 0.25
"""If the difference hides less and adds more than these shares, all of it is one mark, such as several
words. The third is the largest share of the structure that such a mark may be."""
_MARGIN, _LARGE = 0.06, 0.05
"""A mark in a graphic is nearer to an edge than this share of the side, or its box is larger than this
share of the thumbnail. Hands of a clock are neither."""
_EVEN, _MIN_EVEN, _MIN_RANGE = 8, 0.1, 24
"""A pixel is even if the standard deviation around it is below this. If the share of even pixels is
lower than the second, all pixels count as even. The third is the least range of their brightness."""
_MAX_TINT, _NEUTRAL, _SOME_LEVELS = 80, 30, 7
"""Largest difference of the channels in a tinted image, and in a neutral image; and the least grey
levels of a graphic that is neutral and may have been tinted."""
_FITTED, _FIXED = 1.75, 5.5
"""Weights of colour distances in graphics: for changes with a fitted parameter, and for changes that
remove colours (grey, sepia)."""
_CLIPPED, _DARK = 248, 48
"""From this level a channel may be clipped, and up to this level it is too dark for a ratio."""
_GAINS, _BLENDS, _GAMMAS = (0.72, 1.35), (0.6, 1.0), (0.55, 1.9)
"""Limits of global colour changes: factor of a channel, share of the image in a blend with one colour,
and gamma exponent."""
_LUMA = np.array([0.299, 0.587, 0.114])
_SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
"""The sepia matrix of the W3C's Filter Effects."""


class CopyGeometry(NamedTuple):
    """How one image may be a copy of another: the share of its sides that the copy shows, and the turn
    of the copy.
    """

    scale: float
    turn: Turn


UPRIGHT = CopyGeometry(1.0, "none")


class Alignment(NamedTuple):
    """The turn and affine map that align one image with another, and the correlation of miniatures."""

    correlation: float
    turn: Turn
    place: Affine


class Match(NamedTuple):
    """The comparison of two aligned images.

    Attributes:
        common: Share of the thumbnail that both images show.
        correlation: Mean correlation of structure outside the mark, -1 to 1.
        windows: The number of non-overlapping windows with structure: the sample size.
        differing: Share of the structure outside the mark that differs.
        mark: Share of the structure that differs and is in the mark.
        is_turned: Whether one of the two was mirrored or turned.
        is_added: Whether the mark adds structure to one of the two and has the size and place of one.
        coarse_levels: Effective number of grey levels, 1 to 16, of the reduced image: few in line
            drawings and graphics.
        levels: Effective number of grey levels, 1 to 64, without the background: few in drawings with
            flat colours.
        other_colour: Distance, in levels, of the colours that remains after the best global change.
    """

    common: float = 0.0
    correlation: float = 0.0
    windows: float = 0.0
    differing: float = 1.0
    mark: float = 0.0
    is_turned: bool = False
    is_added: bool = False
    coarse_levels: float = 1.0
    levels: float = 1.0
    other_colour: float = 255.0

    @property
    def evidence(self) -> float:
        """The correlation minus three standard errors of sqrt((1 - correlation^2) / windows)."""
        error = math.sqrt(max(0.0, 1 - self.correlation**2) / max(1.0, self.windows))
        return self.correlation - 3 * error

    @property
    def has_same_structure(self) -> bool:
        """Whether the two have the same structure, as copies do."""
        if self.common < MIN_COMMON or self.evidence < MIN_EVIDENCE:
            return False
        if self.coarse_levels >= MANY_COARSE_LEVELS:
            return self.differing <= MAX_DIFFERING
        if self.is_turned and self.correlation < MIN_TURNED_CORRELATION:
            return False
        has_mark = self.is_added and self.evidence >= MIN_EVIDENCE_GRAPHIC
        return self.differing <= MAX_DIFFERING_GRAPHIC and (has_mark or not self.mark)

    @property
    def is_same(self) -> bool:
        """Whether the two are copies of one image."""
        has_many_levels = self.levels >= MANY_LEVELS
        limit = MAX_OTHER_COLOUR if has_many_levels else MAX_OTHER_COLOUR_GRAPHIC
        return self.has_same_structure and self.other_colour <= limit


def best_alignment(whole: Miniature, part: Miniature, geometry: CopyGeometry) -> Alignment | None:
    """Align two miniatures, starting from the suggested geometry and from no geometry (upright).

    Args:
        whole: The miniature of the whole image.
        part: The miniature of the image that may be a part.
        geometry: The suggested geometry.

    Returns:
        The better alignment, or None if the miniatures are too different for copies.
    """
    best: Alignment | None = None
    evened = _evened(whole)
    for scale, turn in dict.fromkeys([geometry, UPRIGHT]):
        start = _in_the_middle(scale, MINIATURE_SIDE)
        other = _evened(turned(part, turn))
        correlation, place = _aligned(evened, other, start, _FIRST_ITERATIONS)
        if correlation >= MIN_FIRST_CORRELATION and (
            best is None or correlation > best.correlation
        ):
            best = Alignment(correlation, turn, place)
    return best


def match(square: SquareImage, other: SquareImage, alignment: Alignment) -> Match:
    """Compare two images, starting from the alignment of their miniatures.

    Args:
        square: The first image.
        other: The second image, which is turned first.
        alignment: The turn and the alignment of the miniatures.

    Returns:
        The result of the comparison; the default `Match()` if the images cannot be aligned.
    """
    import cv2

    other = other.turned(alignment.turn)
    place, side = alignment.place, MINIATURE_SIDE
    for next_side, iterations in _STEPS:
        place, side = _scaled(place, next_side / side), next_side
        first, second = (
            cv2.resize(each.grey, (side, side), interpolation=cv2.INTER_AREA)
            for each in (square, other)
        )
        correlation, place = _aligned(_evened(first), _evened(second), place, iterations)
        if correlation < MIN_CORRELATION:
            return Match()
    small = _scaled(place, COLOUR_SIDE / SIDE)
    moved = SquareImage(
        _moved(square.grey, place), np.stack([_moved(plane, small) for plane in square.colour])
    )
    shown = cv2.warpAffine(
        np.ones((SIDE, SIDE), np.uint8),
        place,
        (SIDE, SIDE),
        flags=cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP,
    )
    return _compared(moved, other, shown, alignment.turn != "none")


def _compared(
    square: SquareImage, other: SquareImage, shown: NDArray[np.uint8], is_turned: bool
) -> Match:
    """Compare two aligned images; `shown` is 1 at the pixels that both have."""
    import cv2

    common = float(shown.mean())
    inner = cv2.erode(shown, np.ones((_EDGE, _EDGE), np.uint8), borderValue=0).astype(bool)
    greys = square.grey, other.grey
    smooth, other_smooth = (cv2.GaussianBlur(grey, (0, 0), _SMOOTH) for grey in greys)
    correlation, deviations = _window_correlations(smooth, other_smooth, inner)
    deviation = np.maximum(*deviations)
    structured = inner & (deviation > _FLAT)
    if common < MIN_COMMON or not structured.any():
        return Match(common)
    differs = structured & (correlation < _MIN_WINDOW_CORRELATION)
    in_mark, is_added = _mark(differs, structured, deviations)
    rest = structured & ~in_mark
    reduced = [_resized(plane, COLOUR_SIDE) for plane in greys]
    compared = _resized(inner & ~_grown(differs), COLOUR_SIDE) > 0.5
    result = Match(
        common=common,
        correlation=_mean(correlation, np.minimum(deviation, _FULL_WEIGHT) * rest),
        windows=float(structured.sum()) / _WINDOW**2,
        differing=float((differs & rest).sum()) / max(1, int(rest.sum())),
        mark=float((differs & in_mark).sum() / structured.sum()),
        is_turned=is_turned,
        is_added=is_added,
        coarse_levels=min(_variety(plane[compared], 16) for plane in reduced),
        levels=min(_variety(grey[inner], 64, 1) for grey in greys),
    )
    if not result.has_same_structure:
        return result
    colours, other_colours = (
        _rgb(grey[compared], colour[:, compared])
        for grey, colour in zip(reduced, (square.colour, other.colour), strict=True)
    )
    even = (_resized(deviation, COLOUR_SIDE) < _EVEN)[compared]
    return result._replace(other_colour=_other_colour(colours, other_colours, even, result.levels))


def _mark(differs: Mask, structured: Mask, deviations: tuple[Grey, Grey]) -> tuple[Mask, bool]:
    """Find the region in which two images differ, if it can be a mark on one of them; else no pixels.

    Also tells whether it adds structure to one of the two and has the size and place of a mark.
    """
    import cv2

    n_differing = int(differs.sum())
    share = n_differing / int(structured.sum())
    if share <= _STRAY:
        return np.zeros_like(differs), False
    closed = cv2.morphologyEx(
        differs.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((_GAP, _GAP), np.uint8)
    )
    _, labels, boxes, _ = cv2.connectedComponentsWithStats(closed)
    largest = 1 + int(boxes[1:, cv2.CC_STAT_AREA].argmax())
    x, y, width, height, _ = (int(each) for each in boxes[largest])
    margin = min(x, y, SIDE - x - width, SIDE - y - height) / SIDE
    box = width * height / SIDE**2
    hidden, added = sorted(
        int((differs & (one < other / 2)).sum()) / n_differing
        for one, other in (deviations, deviations[::-1])
    )
    is_at_edge = margin <= _MARGIN
    is_there = is_at_edge or _LARGE <= box <= _MAX_MARK
    if is_there and hidden <= _ALL_HIDDEN and added >= _ALL_ADDED and share <= _MAX_ADDED:
        return differs, True
    if box > _MAX_MARK:
        return np.zeros_like(differs), False
    enough = added >= (_ADDED if is_at_edge else _ADDED_INSIDE)
    return labels == largest, is_there and hidden <= _HIDDEN and enough


def _window_correlations(grey: Grey, other: Grey, inner: Mask) -> tuple[Grey, tuple[Grey, Grey]]:
    """The correlation of two images in the window around each pixel, and the standard deviations of
    both.

    The contrast of the first image is first scaled to that of the other one.
    """
    import cv2

    def mean(levels: Grey) -> Grey:
        return cv2.blur(levels, (_WINDOW, _WINDOW), borderType=cv2.BORDER_REPLICATE)

    means = mean(grey), mean(other)
    variance = np.maximum(mean(grey * grey) - means[0] ** 2, 0)
    other_variance = np.maximum(mean(other * other) - means[1] ** 2, 0)
    covariance = mean(grey * other) - means[0] * means[1]
    structured = inner & (np.maximum(variance, other_variance) > _FLAT**2)
    if structured.any():
        ratio = (other_variance[structured] + 4) / (variance[structured] + 4)
        gain = float(np.clip(np.median(np.sqrt(ratio)), 0.25, 4))
        variance, covariance = variance * gain**2, covariance * gain
    correlation = covariance / np.sqrt(variance * other_variance + _NOISE)
    return correlation, (np.sqrt(variance), np.sqrt(other_variance))


def _other_colour(colours: Vector, other: Vector, even: Mask, levels: float) -> float:
    """Measure the distance of two images' colours, in levels, after the best global colour change.

    It is the smallest of all changes in both directions; 255 without pixels. Pixels without edges near
    them (`even`) are used, or all pixels if those are too few.
    """
    if not len(colours):
        return 255.0
    if even.mean() < _MIN_EVEN:
        even[:] = True
    # A global change can turn any single colour into any other. So if the even pixels have little
    # range, more of the other pixels are compared, too.
    low, high = np.percentile(colours[even] @ _LUMA, [5, 95])
    share_of_all = 80 if high - low >= _MIN_RANGE else 90
    distances = []
    for old, new in ((colours, other), (other, colours)):
        for change, weight in _changes(old[even], new[even], levels):
            rest = np.abs(new - change(old)).max(axis=1)
            of_even = np.percentile(rest[even], 90) * (1 if levels >= MANY_LEVELS else weight)
            distances.append(max(of_even, np.percentile(rest, share_of_all) / 2))
    return float(min(distances))


def _changes(
    colours: Vector, changed: Vector, levels: float
) -> Iterator[tuple[Callable[[Vector], Vector], float]]:
    """Yield global colour changes, fitted to the pixels, and the weights of their distances."""
    # No change: only compression differs.
    yield lambda pixels: pixels, 1
    # Warmer or cooler: a factor for each channel, clipped.
    factors = []
    for old, new in zip(colours.T, changed.T, strict=True):
        ratios = new / np.maximum(old, 1)
        clear = (old > _DARK) & (new < _CLIPPED)
        factors.append(
            np.median(ratios[clear]) if clear.mean() > 0.02 else np.percentile(ratios, 90)
        )
    gains = np.clip(factors, *_GAINS)
    yield lambda pixels: np.minimum(255, gains * pixels), _FITTED
    # A cast: blended with one colour.
    centred = colours - colours.mean(axis=0)
    share = np.clip((centred * changed).sum() / max((centred**2).sum(), 1e-6), *_BLENDS)
    cast = np.clip(np.median(changed - share * colours, axis=0), 0, 255 * (1 - share) + 2)
    yield lambda pixels: share * pixels + cast, _FITTED
    # Lighter or darker: one exponent.
    clear = (np.minimum(colours, changed) > _DARK) & (np.maximum(colours, changed) < _CLIPPED)
    logs = np.log(changed[clear] / 255) / np.log(colours[clear] / 255)
    exponent = np.clip(np.median(logs) if len(logs) else 1.0, *_GAMMAS)
    yield lambda pixels: 255 * (pixels / 255) ** exponent, _FITTED
    # Grey and sepia have no fitted parameter, so the distance must be smaller.
    yield lambda pixels: (pixels @ _LUMA)[:, None], _FIXED
    yield lambda pixels: np.minimum(255, pixels @ _SEPIA.T), _FIXED
    # Any other tint: a curve of brightness for each channel.
    spread, tint = (np.percentile(np.ptp(each, axis=1), 95) for each in (colours, changed))
    moved = (np.abs(changed - colours).max(axis=1) > 8).mean()
    is_neutral = levels >= _SOME_LEVELS and spread < _NEUTRAL and moved > 0.95
    if tint < _MAX_TINT and (levels >= MANY_LEVELS or is_neutral):
        curve = _curve(colours)
        weights = np.ones(len(curve))
        for _ in range(3):
            weighted = curve.T * weights
            fit = np.linalg.solve(weighted @ curve + 1e-3 * np.eye(3), weighted @ changed)
            weights = 1 / (1 + (np.abs(changed - curve @ fit).max(axis=1) / 20) ** 2)
        yield lambda pixels: _curve(pixels) @ fit, 1


def _curve(pixels: Vector) -> Vector:
    """The powers 2, 1 and 0 of the brightness of each pixel, shape (pixels, 3)."""
    return np.vander(pixels @ _LUMA / 255, 3)


def _rgb(grey: Vector, colour: Vector) -> Vector:
    """RGB levels of pixels, shape (pixels, 3)."""
    blue, red = colour
    channels = grey + 1.402 * red, grey - 0.344 * blue - 0.714 * red, grey + 1.772 * blue
    return np.clip(np.stack(channels, axis=1), 0, 255).astype(float)


def _variety(grey: Grey, n_levels: int, background: int = -1) -> float:
    """Compute the effective number of grey levels: the exponential of their entropy in equal bins.

    Bins up to `background` from the most frequent bin are ignored; -1 ignores none.
    """
    counts = np.bincount((grey * n_levels / 256).astype(int), minlength=n_levels).astype(float)
    middle = int(counts.argmax())
    counts[max(0, middle - background) : middle + background + 1] = 0
    shares = counts[counts > 0] / max(counts.sum(), 1)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _mean(values: Grey, weights: Grey) -> float:
    return float((values * weights).sum() / max(float(weights.sum()), 1e-6))


def _resized(plane: NDArray[Any], side: int) -> Grey:
    """Reduce a square to `side` pixels by averaging."""
    import cv2

    resized: Grey = cv2.resize(plane.astype(np.float32), (side, side), interpolation=cv2.INTER_AREA)
    return resized


def _grown(mask: Mask) -> Mask:
    """Grow a mask by the window around each of its pixels."""
    import cv2

    window = np.ones((_WINDOW, _WINDOW), np.uint8)
    return np.asarray(cv2.dilate(mask.astype(np.uint8), window).astype(bool))


def _evened(grey: Grey) -> Grey:
    """Subtract the local mean and divide by the local standard deviation (contrast normalization)."""
    import cv2

    window = (_EVENED, _EVENED)
    detail = grey - cv2.blur(grey, window, borderType=cv2.BORDER_REPLICATE)
    variance = cv2.blur(detail * detail, window, borderType=cv2.BORDER_REPLICATE)
    evened: Grey = detail / (np.sqrt(np.maximum(variance, 0)) + _FAINT) * 64
    return evened


def _aligned(grey: Grey, other: Grey, start: Affine, iterations: int) -> tuple[float, Affine]:
    """Align two images by ECC: their correlation and the affine map; -1 and `start` if that fails."""
    import cv2

    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, iterations, _ENOUGH)
    with suppress(cv2.error):  # it does not converge, or one of the two is uniform
        correlation, place = cv2.findTransformECC(
            other, grey, start.copy(), cv2.MOTION_AFFINE, criteria, None, 3
        )
        if correlation >= MIN_FIRST_CORRELATION and _is_within_limits(place, len(grey)):
            return float(correlation), place
    # Striped images can slide along the stripes. The same dots on both images prevent that.
    dots = _dots(len(grey))
    dotted = grey + cv2.warpAffine(dots, start, dots.shape, borderMode=cv2.BORDER_REFLECT)
    with suppress(cv2.error):
        _, place = cv2.findTransformECC(
            other + dots, dotted, start.copy(), cv2.MOTION_AFFINE, criteria, None, 3
        )
        if _is_within_limits(place, len(grey)):
            return float(cv2.computeECC(other, _moved(grey, place))), place
    return -1.0, start


@cache
def _dots(side: int) -> Grey:
    """Smooth random dots."""
    import cv2

    dots = np.random.default_rng(0).normal(0, _DOTS, (side, side)).astype(np.float32)
    blurred: Grey = cv2.GaussianBlur(dots, (0, 0), 1)
    return blurred


def _is_within_limits(place: Affine, side: int) -> bool:
    middle = (side - 1) / 2
    shift = place @ np.array([middle, middle, 1]) - middle
    scales, shears = place[[0, 1], [0, 1]], place[[0, 1], [1, 0]]
    return bool(
        (scales > _SCALES[0]).all()
        and (scales < _SCALES[1]).all()
        and (np.abs(shears) < _SHEAR).all()
        and (np.abs(shift) < _SHIFT * side).all()
    )


def _in_the_middle(scale: float, side: int) -> Affine:
    """The affine map of an image that shows the middle of another one, `scale` of its sides."""
    shift = (1 - scale) * (side - 1) / 2
    return np.array([[scale, 0, shift], [0, scale, shift]], dtype=np.float32)


def _scaled(place: Affine, factor: float) -> Affine:
    """Rescale an affine map for images larger by a factor; (0, 0) is the middle of the first pixel."""
    half = np.array([0.5, 0.5])
    linear = place[:, :2]
    shift = (place[:, 2] + half - linear @ half) * factor - half + linear @ half
    return np.column_stack([linear, shift]).astype(np.float32)


def _moved(plane: Grey, place: Affine) -> Grey:
    """Warp an image by an affine map onto the other image."""
    import cv2

    moved: Grey = cv2.warpAffine(
        plane,
        place,
        plane.shape[::-1],
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return moved
