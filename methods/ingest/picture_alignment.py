"""Where pictures lie on others: scale, shift and turn of many pairs at a time, by least squares.

Lucas and Kanade (IJCAI 1981) in the forward compositional form (Baker and Matthews, IJCV 2004): gain
and offset of brightness are fitted along, and what is on one picture only, such as a mark, has little
weight.
"""

import numpy as np
from numpy.typing import NDArray

Stack = NDArray[np.float32]
"""Grey levels 0 to 255 of squares, shape (pairs, side, side)."""
Mask = NDArray[np.bool_]
Places = NDArray[np.float64]
"""Affine maps, shape (pairs, 2, 3): where on one picture a point (y, x, 1) of the other one lies. The
edges of a picture are -1 and 1."""

PIXELS_AT_ONCE = 1 << 15
"""Pixels of all pairs that are fitted together: what is computed of them stays in the cache."""
_LARGEST_STEP = 0.1
_SCALES, _SHEAR, _SHIFT = (0.6, 1.6), 0.3, 0.4
"""Limits of a place: a picture turned by five degrees, three times as wide as high, is within them."""


def in_the_middle(scales: NDArray[np.float64]) -> Places:
    """Places of pictures that show this share of each side of the other one, in its middle."""
    places = np.zeros((len(scales), 2, 3))
    places[:, 0, 0] = places[:, 1, 1] = scales
    return places


def reduced(squares: Stack, side: int) -> Stack:
    """Reduce squares by averaging blocks of pixels.

    Args:
        squares: Squares, shape (n, side, side).
        side: The new side, a divisor of the present one.

    Returns:
        The smaller squares.
    """
    step = squares.shape[-1] // side
    if step == 1:
        return squares
    return squares.reshape(len(squares), side, step, side, step).mean(axis=(2, 4))


def aligned(ones: Stack, others: Stack, places: Places, n_steps: int) -> Places:
    """Improve the alignment of pairs of images by Gauss-Newton steps.

    Args:
        ones: The first image of each pair.
        others: The second image of each pair.
        places: The affine map of each pair to start from.
        n_steps: The number of steps.

    Returns:
        The improved maps.
    """
    at_once = max(1, PIXELS_AT_ONCE // ones[0].size) if len(ones) else 1
    improved = places.copy()
    for start in range(0, len(ones), at_once):
        part = slice(start, start + at_once)
        for _ in range(n_steps):
            improved[part] = _improved(ones[part], others[part], improved[part])
    return improved


def moved(ones: Stack, places: Places) -> tuple[Stack, Mask]:
    """Move images to their places on the others.

    Args:
        ones: The images.
        places: The affine map of each image.

    Returns:
        The moved images, and a mask of the pixels that both images show.
    """
    n, side = len(ones), ones.shape[-1]
    at = _grid(side)
    in_pixels = places * (side / 2)
    in_pixels[:, :, 2] += (side - 1) / 2
    p = in_pixels.astype(np.float32)[:, :, :, None, None]
    inside = np.ones((n, side, side), dtype=np.bool_)
    parts = []
    for axis in (0, 1):
        position = p[:, axis, 0] * at[:, None] + p[:, axis, 1] * at
        position += p[:, axis, 2]
        inside &= position >= -0.5
        inside &= position <= side - 0.5
        np.clip(position, 0, side - 1.001, out=position)
        low = position.astype(np.int32)
        position -= low.astype(np.float32)
        parts.append((low, position))
    (index, down), (column, right) = parts
    index *= side
    index += column
    index += np.arange(n, dtype=np.int32)[:, None, None] * (side * side)
    flat = ones.reshape(-1)
    upper = _between(flat, index, right)
    index += side
    lower = _between(flat, index, right)
    lower -= upper
    lower *= down
    upper += lower
    return upper, inside


def _between(flat: Stack, index: NDArray[np.int32], right: Stack) -> Stack:
    """Pixels between those at `index` and their right neighbours."""
    left = flat.take(index)
    step = flat.take(index + 1)
    step -= left
    step *= right
    left += step
    return left


def correlations(ones: Stack, others: Stack, common: Mask) -> NDArray[np.float64]:
    """Compute Pearson's correlation of each pair of images over their common pixels.

    Args:
        ones: The first image of each pair.
        others: The second image of each pair.
        common: The mask of common pixels.

    Returns:
        A correlation for each pair; 0 if one of the two is uniform.
    """
    n = np.maximum(common.sum(axis=(1, 2)), 1)
    a, b = (np.where(common, stack, 0) for stack in (ones, others))
    a, b = (
        np.where(common, stack - (stack.sum(axis=(1, 2)) / n)[:, None, None], 0) for stack in (a, b)
    )
    norm = np.sqrt((a * a).sum(axis=(1, 2), dtype=float) * (b * b).sum(axis=(1, 2), dtype=float))
    product = (a * b).sum(axis=(1, 2), dtype=float)
    return np.where(norm > 1e-3 * n, product / np.maximum(norm, 1e-9), 0.0)


def _grid(side: int) -> NDArray[np.float32]:
    return ((np.arange(side, dtype=np.float32) + 0.5) / side * 2 - 1).astype(np.float32)


def _improved(ones: Stack, others: Stack, places: Places) -> Places:
    """The places after one step."""
    n, side = len(ones), ones.shape[-1]
    moved_ones, common = moved(ones, places)
    a, b = moved_ones.reshape(n, -1), others.reshape(n, -1)
    mask = common.reshape(n, -1).astype(np.float32)
    count = np.maximum(mask.sum(axis=1), 1.0)
    # Brightness first, because steps are in units of it.
    mean_a, mean_b = (a * mask).sum(axis=1) / count, (b * mask).sum(axis=1) / count
    of_a, of_b = (a - mean_a[:, None]) * mask, (b - mean_b[:, None]) * mask
    gain = (of_a * of_b).sum(axis=1) / ((of_a * of_a).sum(axis=1) + 1e-6)
    rest = of_b - gain[:, None] * of_a
    weights = mask / _outlying(rest, mask, count)
    at = _grid(side)
    columns = np.empty((n, 8, side * side), dtype=np.float32)
    for axis in (0, 1):
        slope = columns[:, 3 * axis + 2]
        steepness = np.gradient(moved_ones, axis=axis + 1).reshape(n, -1)
        np.multiply(steepness, gain[:, None] * (side / 2), out=slope)
        np.multiply(slope, np.repeat(at, side), out=columns[:, 3 * axis])
        np.multiply(slope, np.tile(at, side), out=columns[:, 3 * axis + 1])
    columns[:, 6], columns[:, 7] = of_a, 1.0
    weighted = columns * weights[:, None]
    normal = (weighted @ columns.transpose(0, 2, 1)).astype(np.float64)
    target = (weighted @ rest[:, :, None]).astype(np.float64)
    trace = np.trace(normal[:, :6, :6], axis1=1, axis2=2)
    damping = np.full((n, 8), 1e-6)
    damping[:, :6] += (1e-3 * trace / 6)[:, None]
    step = np.linalg.solve(normal + damping[:, :, None] * np.eye(8), target)[:, :6, 0]
    step = np.clip(step, -_LARGEST_STEP, _LARGEST_STEP).reshape(n, 2, 3)
    return _within_limits(
        np.concatenate(
            [
                places[:, :, :2] @ (step[:, :, :2] + np.eye(2)),
                places[:, :, :2] @ step[:, :, 2:] + places[:, :, 2:],
            ],
            axis=2,
        )
    )


def _within_limits(places: Places) -> Places:
    limited = places.copy()
    for axis in (0, 1):
        limited[:, axis, axis] = np.clip(limited[:, axis, axis], *_SCALES)
        limited[:, axis, 1 - axis] = np.clip(limited[:, axis, 1 - axis], -_SHEAR, _SHEAR)
    limited[:, :, 2] = np.clip(limited[:, :, 2], -_SHIFT, _SHIFT)
    return limited


def _outlying(rest: Stack, mask: NDArray[np.float32], count: NDArray[np.float32]) -> Stack:
    """How far each residual lies out, from 1: the inverse of Cauchy's weights.

    What is on one picture only, such as a mark, must not pull at what is fitted.
    """
    ordered = np.sort(np.where(mask > 0, np.abs(rest), np.inf), axis=1)
    middle = ordered[np.arange(len(rest)), (count / 2).astype(np.intp)]
    return np.asarray(1 + (rest / (3 * middle[:, None] + 1e-6)) ** 2)
