"""A cheap first look at pairs of unit vectors that no pair within tau can fail.

Rotated to its principal axes, a vector has most of its length in the first few coordinates, its head.
The rest of a product is at most the product of the rests' lengths (Cauchy-Schwarz), so with that length
as one more coordinate

    x . y  <=  head(x) . head(y) + rest(x) rest(y)

and a short product bounds a long one from above. Where the processor multiplies bfloat16 faster than
float32, the short product is made in it and the bound is widened by what its rounding can cost. What
belongs here: the bound. Who is a neighbour is decided by `neighbours.py`, on whole vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

TILE_ROWS, TILE_COLUMNS = 1024, 4096
"""One tile of bounds is 8 to 16 MB, whatever the number of vectors; a narrow one has more rows."""

WIDTHS = (32, 64, 96, 128, 192, 256, 384, 512, 768)
SAMPLE = 1024
WHOLE_UP_TO = 2048
"""So many vectors are multiplied in whole before their axes would be found."""
AXES_SAMPLE = 16_384

MARGIN = {"float32": 1e-3, "bfloat16": 0.0125}
"""What a bound may fall short by. float32: a length that is what is left of squares, off by the root
of 2^-23 or so where little is left, with room. bfloat16 keeps 8 bits: 2^-8 of the lengths' product for
each factor and 2^-8 of the result come to 0.0117 for lengths of 1; sums are kept in float32."""

CHECK_COST = {"float32": 80_000, "bfloat16": 500_000}
"""Looking at one pair's whole vectors takes as long as so many multiply-adds of a tile; measured."""


@dataclass(frozen=True)
class Screen:
    """Heads of n vectors, shape (n, width + 1): float32, or the bits of bfloat16 as int16. Of few
    vectors the vectors themselves, shape (n, d)."""

    heads: NDArray[np.float32] | NDArray[np.int16]
    bound: float
    """A pair whose short product lies under it is not within tau."""

    def select(self, rows: NDArray[np.intp] | slice) -> "torch.Tensor":
        """Heads of some vectors, on the device that multiplies them."""
        import torch

        heads = torch.from_numpy(self.heads[rows])
        if heads.dtype == torch.int16:
            heads = heads.view(torch.bfloat16)
        return heads.to(_device())

    def passing(
        self, left: "torch.Tensor", right: "torch.Tensor"
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Positions in `left` and `right` of the pairs that may be within tau, tile by tile."""
        import torch

        height = TILE_ROWS * max(1, TILE_COLUMNS // max(1, len(right)))
        # One tile's memory serves all: fresh memory costs as much as the product.
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
            # Of floats not below zero, the larger has the larger bits: integers compare faster.
            lowest = np.array(self.bound, dtype=np.float32).view(np.int32) >> 16
            return np.flatnonzero(products.view(torch.int16).numpy() >= np.int16(lowest))
        return np.flatnonzero(products.float().numpy() >= np.float32(self.bound))


def make_screen(vectors: NDArray[np.float32], tau: float) -> Screen:
    """A screen for unit vectors, shape (n, d), with the head's width that costs least on a sample."""
    if len(vectors) <= WHOLE_UP_TO:
        return Screen(vectors, tau - MARGIN["float32"])
    axes = _principal_axes(vectors)
    number = "bfloat16" if _multiplies_bfloat16() else "float32"
    bound = tau - MARGIN[number]
    sample = vectors[:: max(1, len(vectors) // SAMPLE)]

    def cost(width: int) -> float:
        """Multiply-adds a pair: those of the short product, and of the whole one if it passes."""
        heads = _heads(sample, axes[:, :width])
        # Of two samples of the same vectors the diagonal always passes and says nothing.
        n_passing = int((heads @ heads.T >= bound).sum()) - len(sample)
        return width + CHECK_COST[number] * n_passing / len(sample) ** 2

    dimensions = vectors.shape[1]
    widths = [width for width in WIDTHS if width < dimensions] + [dimensions]
    heads = _heads(vectors, axes[:, : min(widths, key=cost)])
    return Screen(_bfloat16_bits(heads) if number == "bfloat16" else heads, bound)


def _principal_axes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Axes as columns, shape (d, d), the one along which some of the vectors are longest first."""
    some = vectors[:: max(1, len(vectors) // AXES_SAMPLE)]
    _, axes = np.linalg.eigh((some.T @ some).astype(np.float64))
    return np.ascontiguousarray(axes[:, ::-1], dtype=np.float32)


def _heads(vectors: NDArray[np.float32], axes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Vectors along some axes, and the length of what lies along the others."""
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
    """Whether the processor has instructions for bfloat16; elsewhere it is slower than float32."""
    import torch

    if _device() != "cpu":
        # A GPU is fast enough in float32, and may sum bfloat16 in bfloat16.
        return False
    able = torch.cpu.get_capabilities()
    return bool(able.get("amx_bf16") or able.get("avx512_bf16"))
