"""Pair filter: a cheap upper bound on the cosine of two unit vectors, to exclude pairs below tau.

After rotation to the principal axes, a vector has most of its length in its first few coordinates, the
head. The rest of a dot product is at most the product of the residual lengths (Cauchy-Schwarz):

    x . y  <=  head(x) . head(y) + residual(x) residual(y)

So the dot product of the heads, with the residual length as one more coordinate, bounds the cosine from
above. If the processor multiplies 8-bit integers faster than float32, heads are rounded to multiples of
a unit, and the bound allows for the largest rounding error of a product. `neighbours.py` decides on
full vectors whether a pair is within tau.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

TILE_ROWS, TILE_COLUMNS = 1024, 1024
"""Size of a tile of bounds: 5 MB for any number of vectors; a tile with fewer columns has more rows."""

WIDTHS = (32, 64, 96, 128, 192, 256, 384, 512, 768)
SAMPLE = 1024
FULL_PRODUCTS_UP_TO = 2048
"""Up to this many vectors, full products take less time than finding the axes."""
AXES_SAMPLE = 16_384

MARGIN = 1e-3
"""The amount by which float32 can lower a bound: the residual length is the root of a difference of
squares, with an error of about the root of 2^-23 if the residual is small; rounded up."""
MOST_UNITS, ROUNDED_AT_ONCE = 127, 16_384
"""The largest integer in a head of 8-bit integers, and the number of heads rounded at a time."""

CHECK_COST = {"float32": 80_000, "int8": 200_000}
"""Comparing one pair in full takes as long as this many multiply-adds of a tile; measured."""

Heads: TypeAlias = Any
"""The heads of some rows in the type that their filter multiplies: a torch tensor or an array."""


@dataclass(frozen=True)
class PairFilter:
    """Heads of n vectors, shape (n, k): float32, or integers of 8 bits."""

    heads: NDArray[np.float32] | NDArray[np.int8]
    bound: float
    """A pair whose heads have a smaller product is not within tau."""

    def select(self, rows: NDArray[np.intp] | slice) -> Heads:
        """Get the heads of some rows, as a tensor on the device that multiplies them."""
        import torch

        return torch.from_numpy(self.heads[rows]).to(_device())

    def candidates(
        self, left: Heads, right: Heads
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the pairs that can be within tau, tile by tile.

        Args:
            left: The heads of the first vectors.
            right: The heads of the second vectors.

        Yields:
            Positions in `left` and in `right`.
        """
        import torch

        height = TILE_ROWS * max(1, TILE_COLUMNS // max(1, len(right)))
        of_integers = left.dtype == torch.int8
        multiply = torch._int_mm if of_integers else torch.mm
        # All tiles share one buffer: allocating memory costs as much as the product.
        tile = left.new_empty(
            min(height, len(left)) * min(TILE_COLUMNS, len(right)),
            dtype=torch.int32 if of_integers else torch.float32,
        )
        over = np.empty(len(tile), dtype=bool)
        for top in range(0, len(left), height):
            rows = left[top : top + height]
            for start in range(0, len(right), TILE_COLUMNS):
                columns = right[start : start + TILE_COLUMNS]
                products = tile[: len(rows) * len(columns)]
                multiply(rows, columns.T, out=products.view(len(rows), len(columns)))
                place = self._over_bound(products, over[: len(products)])
                row, column = np.divmod(place, len(columns))
                yield row + top, column + start

    def _over_bound(self, products: "torch.Tensor", over: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The positions of products that reach the bound; `over` is a buffer of the same length."""
        if products.device.type != "cpu":
            return (products >= self.bound).nonzero().squeeze(1).cpu().numpy()
        values = products.numpy()
        return _true_places(np.greater_equal(values, values.dtype.type(self.bound), out=over))


def _true_places(flags: NDArray[np.bool_]) -> NDArray[np.intp]:
    """`np.flatnonzero` for flags of which few are true: eight are tested at a time."""
    n_whole = len(flags) // 8 * 8
    eights = np.flatnonzero(flags[:n_whole].view(np.uint64) != 0)
    places = np.add.outer(8 * eights, np.arange(8)).ravel()
    return np.concatenate([places[flags[places]], n_whole + np.flatnonzero(flags[n_whole:])])


class FullProducts(PairFilter):
    """The filter of few vectors. The heads are the vectors themselves, shape (n, d), float32.

    numpy multiplies them, as importing torch would take longer than these products.
    """

    def select(self, rows: NDArray[np.intp] | slice) -> Heads:
        """Get some of the vectors as an array."""
        return self.heads[rows]

    def candidates(
        self, left: Heads, right: Heads
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield the pairs that can be within tau, all at once.

        Args:
            left: The heads of the first vectors.
            right: The heads of the second vectors.

        Yields:
            Positions in `left` and in `right`.
        """
        near, other = np.nonzero(left @ right.T >= np.float32(self.bound))
        yield near, other


def make_pair_filter(vectors: NDArray[np.float32], tau: float) -> PairFilter:
    """Make a filter of pairs, with the head width that costs least on a sample.

    Args:
        vectors: Unit vectors, shape (n, d).
        tau: The least cosine of the pairs to keep.

    Returns:
        A filter that keeps every pair at cosine >= tau, and few others.
    """
    if len(vectors) <= FULL_PRODUCTS_UP_TO:
        return FullProducts(vectors, tau - MARGIN)
    axes = _principal_axes(vectors)
    in_integers = _multiplies_integers()
    sample = vectors[:: max(1, len(vectors) // SAMPLE)]

    def of_width(some: NDArray[np.float32], width: int) -> PairFilter:
        heads = _heads(some, axes[:, :width])
        return _rounded(heads, tau - MARGIN) if in_integers else PairFilter(heads, tau - MARGIN)

    def cost(width: int) -> float:
        """Expected multiply-adds per pair: the short product, and the check if the pair passes."""
        filtered = of_width(sample, width)
        heads = filtered.heads.astype(np.float32)
        # The diagonal has each vector with itself, which always passes.
        n_passing = int((heads @ heads.T >= filtered.bound).sum()) - len(sample)
        check = CHECK_COST["int8" if in_integers else "float32"]
        return heads.shape[1] + check * n_passing / len(sample) ** 2

    dimensions = vectors.shape[1]
    widths = [width for width in WIDTHS if width < dimensions] + [dimensions]
    return of_width(vectors, min(widths, key=cost))


def _principal_axes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Principal axes of a sample as columns, shape (d, d), by falling eigenvalue."""
    sample = vectors[:: max(1, len(vectors) // AXES_SAMPLE)]
    _, axes = np.linalg.eigh((sample.T @ sample).astype(np.float64))
    return np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)


def _heads(vectors: NDArray[np.float32], axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Coordinates along the given axes, and the residual length along all others."""
    heads = np.empty((len(vectors), axes.shape[1] + 1), dtype=np.float32)
    along = heads[:, :-1]
    np.matmul(vectors, axes, out=along)
    squares = np.einsum("nd,nd->n", vectors, vectors) - np.einsum("nd,nd->n", along, along)
    heads[:, -1] = np.sqrt(np.maximum(squares, 0))
    return heads


def _rounded(heads: NDArray[np.float32], bound: float) -> PairFilter:
    """Build the filter of these heads in 8-bit integers; `bound` is that of products of the heads.

    With x = x' + e, where e is the rounding error of the coordinates of a head,

        x . y  <=  x' . y' + |x'| |e(y)| + |e(x)| |y'| + |e(x)| |e(y)|

    Take the length of e and the residual as one vector. The product of these lengths is at least the
    last product plus that of the residuals (Cauchy-Schwarz), so the length, rounded up, is the last
    coordinate.
    """
    along, residual = heads[:, :-1], heads[:, -1]
    n, width = along.shape
    # A residual too large for 8 bits is spread over several coordinates: r as r/2, r/2, r/2, r/2.
    largest = max(along.max(), -along.min(), residual.max() / 4, 1e-3)
    unit = np.float32(largest / MOST_UNITS)
    whole = np.empty((n, width), dtype=np.int8)
    squares, taken_off = np.empty(n), np.empty(n)
    for start in range(0, n, ROUNDED_AT_ONCE):
        part = slice(start, start + ROUNDED_AT_ONCE)
        units = along[part] / unit
        nearest = np.rint(units)
        whole[part] = nearest
        squares[part] = np.einsum("nd,nd->n", nearest, nearest)
        units -= nearest
        taken_off[part] = np.einsum("nd,nd->n", units, units)
    crossed = 2 * np.sqrt(squares.max() * taken_off.max())
    rest = np.sqrt((residual / unit) ** 2 + taken_off)
    n_places = max(1, int(np.ceil((rest.max() / MOST_UNITS) ** 2)))
    last = np.ceil(rest / np.sqrt(n_places)).astype(np.int8)
    rounded = np.concatenate([whole, np.repeat(last[:, None], n_places, axis=1)], axis=1)
    return PairFilter(rounded, float(np.floor(bound / float(unit) ** 2 - crossed)))


@cache
def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@cache
def _multiplies_integers() -> bool:
    """Whether the processor has instructions for 8-bit integers; without them integers are slower."""
    import torch

    if _device() != "cpu":
        # A GPU is fast in float32.
        return False
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_int8") or able.get("avx512_vnni"))
