"""A cheap upper bound on the cosine of two unit vectors, to exclude pairs that are not within tau.

After rotation to the principal axes, a vector has most of its length in its first few coordinates, the
head. The rest of a dot product is at most the product of the residual lengths (Cauchy-Schwarz):

    x . y  <=  head(x) . head(y) + residual(x) residual(y)

So the dot product of the heads, with the residual length as one more coordinate, bounds the cosine
from above. Where the processor multiplies bfloat16 faster than float32, the bound is computed in
bfloat16 and widened by its rounding error. What belongs here: the bound. What does not: deciding on
full vectors whether a pair is within tau (`neighbours.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

TILE_ROWS, TILE_COLUMNS = 1024, 4096
"""A tile of bounds takes 8 to 16 MB, whatever the number of vectors; a narrow tile has more rows."""

WIDTHS = (32, 64, 96, 128, 192, 256, 384, 512, 768)
SAMPLE = 1024
FULL_PRODUCTS_UP_TO = 2048
"""Up to this many vectors, full products take less time than finding the axes."""
AXES_SAMPLE = 16_384

MARGIN = {"float32": 1e-3, "bfloat16": 0.0125}
"""How much rounding can lower a bound. float32: the residual length is the root of a difference of
squares, with an error of about the root of 2^-23 if the residual is small; rounded up. bfloat16 has 8
bits: an error of 2^-8 for each of two factors and for the result, 0.0117 for lengths of 1; sums are
float32."""

CHECK_COST = {"float32": 80_000, "bfloat16": 500_000}
"""Comparing one pair in full takes as long as this many multiply-adds of a tile; measured."""

Heads: TypeAlias = Any
"""Some rows' heads in the form that their filter multiplies: a tensor of torch, or an array."""


@dataclass(frozen=True)
class PairFilter:
    """Heads of n vectors, shape (n, width + 1): float32, or the bits of bfloat16 as int16."""

    heads: NDArray[np.float32] | NDArray[np.int16]
    bound: float
    """A pair whose heads have a smaller product is not within tau."""

    def select(self, rows: NDArray[np.intp] | slice) -> Heads:
        """Heads of some rows, a tensor on the device that multiplies them."""
        import torch

        heads = torch.from_numpy(self.heads[rows])
        if heads.dtype == torch.int16:
            heads = heads.view(torch.bfloat16)
        return heads.to(_device())

    def candidates(
        self, left: Heads, right: Heads
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Positions in `left` and `right` of the pairs that can be within tau, tile by tile."""
        import torch

        height = TILE_ROWS * max(1, TILE_COLUMNS // max(1, len(right)))
        # All tiles share one buffer: allocating memory costs as much as the product.
        tile = left.new_empty(min(height, len(left)) * min(TILE_COLUMNS, len(right)))
        for top in range(0, len(left), height):
            rows = left[top : top + height]
            for start in range(0, len(right), TILE_COLUMNS):
                columns = right[start : start + TILE_COLUMNS]
                products = tile[: len(rows) * len(columns)].view(len(rows), len(columns))
                torch.mm(rows, columns.T, out=products)
                row, column = np.divmod(self._over_bound(products), len(columns))
                yield row + top, column + start

    def _over_bound(self, products: "torch.Tensor") -> NDArray[np.intp]:
        import torch

        if products.device.type != "cpu":
            return (products >= self.bound).flatten().nonzero().squeeze(1).cpu().numpy()
        if products.dtype == torch.bfloat16 and self.bound > 0:
            # Non-negative floats are ordered like their bits, and integers compare faster.
            lowest = np.array(self.bound, dtype=np.float32).view(np.int32) >> 16
            return np.flatnonzero(products.view(torch.int16).numpy() >= np.int16(lowest))
        return np.flatnonzero(products.float().numpy() >= np.float32(self.bound))


class FullProducts(PairFilter):
    """The filter of few vectors, whose heads are the vectors themselves, shape (n, d), float32.

    numpy multiplies them, as importing torch takes longer than these products.
    """

    def select(self, rows: NDArray[np.intp] | slice) -> Heads:
        """Some of the vectors, an array."""
        return self.heads[rows]

    def candidates(
        self, left: Heads, right: Heads
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Positions of the pairs that can be within tau, all at once."""
        near, other = np.nonzero(left @ right.T >= np.float32(self.bound))
        yield near, other


def make_pair_filter(vectors: NDArray[np.float32], tau: float) -> PairFilter:
    """A filter for unit vectors, shape (n, d), with the head width that costs least on a sample."""
    if len(vectors) <= FULL_PRODUCTS_UP_TO:
        return FullProducts(vectors, tau - MARGIN["float32"])
    axes = _principal_axes(vectors)
    number = "bfloat16" if _multiplies_bfloat16() else "float32"
    bound = tau - MARGIN[number]
    sample = vectors[:: max(1, len(vectors) // SAMPLE)]

    def cost(width: int) -> float:
        """Expected multiply-adds per pair: the short product, and the check if the pair passes."""
        heads = _heads(sample, axes[:, :width])
        # The diagonal is a vector with itself and always passes.
        n_passing = int((heads @ heads.T >= bound).sum()) - len(sample)
        return width + CHECK_COST[number] * n_passing / len(sample) ** 2

    dimensions = vectors.shape[1]
    widths = [width for width in WIDTHS if width < dimensions] + [dimensions]
    heads = _heads(vectors, axes[:, : min(widths, key=cost)])
    return PairFilter(_bfloat16_bits(heads) if number == "bfloat16" else heads, bound)


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


def _bfloat16_bits(heads: NDArray[np.float32]) -> NDArray[np.int16]:
    import torch

    return torch.from_numpy(heads).to(torch.bfloat16).view(torch.int16).numpy()


@cache
def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


@cache
def _multiplies_bfloat16() -> bool:
    """Whether the processor has instructions for bfloat16; without them it is slower than float32."""
    import torch

    if _device() != "cpu":
        # A GPU is fast in float32, and may accumulate bfloat16 sums in bfloat16.
        return False
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_bf16") or able.get("avx512_bf16"))
