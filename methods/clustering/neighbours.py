"""All pairs of vectors within tau of each other, exactly.

Every pair is screened (`screen.py`), what passes is looked at in whole. Blocks of rows are independent
of each other: threads take them here, workers elsewhere may take them too. What belongs here: who is
near whom. Who forms a community with whom says `communities.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from methods.clustering.screen import TILE_ROWS, Screen, make_screen
from methods.errors import UserError

Vectors = NDArray[np.float32]
"""Unit vectors, one a row: shape (n, d)."""

MAX_PAIRS = 2**29
"""Pairs are held in memory, 16 bytes each while they are put in order."""

CHECKED_AT_ONCE = 1024
BORDER = 1e-5
"""Closer to tau than this, a product is made in float64."""


class ThresholdError(UserError):
    """A tau or vectors that communities cannot be made of."""


@dataclass(frozen=True)
class Prepared:
    """What a block of rows needs to know: distinct vectors, their screen, and whose they are."""

    vectors: Vectors
    """The distinct ones, shape (m, d), in the order of their first appearance."""
    screen: Screen
    tau: float
    first: NDArray[np.intp]
    """Of each distinct vector the index at which it stands first, shape (m,)."""
    distinct_of: NDArray[np.intp]
    """Of each vector given the row of its distinct one, shape (n,)."""


@dataclass(frozen=True)
class Pairs:
    """Pairs within tau as two arrays of rows of distinct vectors, `low` < `high`, each pair once."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


@dataclass(frozen=True)
class Neighbours:
    """The graph of all pairs: neighbours of row i are indices[starts[i]:starts[i + 1]], ascending.

    A row is no neighbour of itself. Rows are those of `prepared.vectors`.
    """

    prepared: Prepared
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]

    def of(self, row: int) -> NDArray[np.int32]:
        """Neighbours of one row."""
        return self.indices[self.starts[row] : self.starts[row + 1]]


Part = TypeVar("Part")
Say = Callable[[int, int], None]
"""Hears how many blocks are done, of how many."""


def find_neighbours(vectors: Vectors, tau: float, say: Say | None = None) -> Neighbours:
    """Every pair at cosine >= `tau`, found by as many threads as the process may use.

    Exact: a pair's cosine is the float64 product of its float32 vectors; equal vectors are at 1. Cost:
    n^2 / 2 short products; memory a few tiles, and 16 bytes a pair. Raises ThresholdError.
    """
    prepared = prepare(vectors, tau)
    todo = blocks(prepared)
    found: list[Pairs] = []
    for pairs in side_by_side(lambda block: block_pairs(prepared, *block), todo):
        found.append(pairs)
        require_few(sum(len(each.low) for each in found), tau)
        if say is not None:
            say(len(found), len(todo))
    return merge(prepared, found)


def side_by_side(work: Callable[[Part], Pairs], parts: Sequence[Part]) -> Iterator[Pairs]:
    """Pairs of every part in turn, made by as many threads as torch may use."""
    import torch

    if len(parts) < 2:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(torch.get_num_threads())
    try:
        yield from pool.map(work, parts)
    finally:
        # Whoever stops listening, or fails, waits for no more than what is under way.
        pool.shutdown(cancel_futures=True)


def prepare(vectors: Vectors, tau: float) -> Prepared:
    """Vectors, shape (n, d), ready for blocks; float16 and vectors not of length 1 are brought there.

    Raises ThresholdError for a tau outside -1..1 and for numbers that are not finite.
    """
    if not -1 <= tau <= 1:
        raise ThresholdError(f"tau is a cosine: give a number from -1 to 1, not {tau}.")
    units = as_units(vectors)
    first, distinct_of = _distinct(units)
    distinct = units if len(first) == len(units) else units[first]
    return Prepared(distinct, make_screen(distinct, tau), tau, first, distinct_of)


def blocks(prepared: Prepared, rows: int = TILE_ROWS) -> list[tuple[int, int]]:
    """Blocks of rows (start, stop) that cover all pairs; the first has most columns to look at."""
    n = len(prepared.vectors)
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]


def block_pairs(prepared: Prepared, start: int, stop: int) -> Pairs:
    """Pairs of the rows start..stop with each other and with all rows after them."""
    screen = prepared.screen
    left, right = screen.select(slice(start, stop)), screen.select(slice(start, None))
    found = []
    for low, high in screen.passing(left, right):
        later = high > low
        found.append(within_tau(prepared, low[later] + start, high[later] + start))
    return concatenated(found)


def merge(prepared: Prepared, found: Iterable[Pairs]) -> Neighbours:
    """The graph of all blocks' pairs, whatever their order."""
    from scipy.sparse import coo_array

    pairs = concatenated(list(found))
    require_few(len(pairs.low), prepared.tau)
    n = len(prepared.vectors)
    ones = np.ones(len(pairs.low), dtype=bool)
    upper = coo_array((ones, (pairs.low, pairs.high)), shape=(n, n)).tocsr()
    graph = (upper + upper.T).tocsr()
    graph.sort_indices()
    return Neighbours(
        prepared, graph.indptr.astype(np.int64), graph.indices.astype(np.int32, copy=False)
    )


def within_tau(prepared: Prepared, low: NDArray[np.intp], high: NDArray[np.intp]) -> Pairs:
    """Those of some pairs whose whole vectors are within tau."""
    cosine = cosines(prepared.vectors, low, high)
    border = np.flatnonzero(np.abs(cosine - prepared.tau) < BORDER)
    near = cosine >= prepared.tau
    near[border] = cosines(prepared.vectors, low[border], high[border], np.float64) >= prepared.tau
    return Pairs(low[near].astype(np.int32), high[near].astype(np.int32))


def cosines(
    vectors: Vectors,
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    number: type[np.floating] = np.float32,
) -> NDArray[np.floating]:
    """Products of pairs of rows, in `number`; a few pairs at a time, so that they stay in the cache."""
    products = np.empty(len(left), dtype=number)
    for start in range(0, len(left), CHECKED_AT_ONCE):
        part = slice(start, start + CHECKED_AT_ONCE)
        products[part] = np.einsum(
            "nd,nd->n",
            vectors[left[part]].astype(number, copy=False),
            vectors[right[part]].astype(number, copy=False),
        )
    return products


def concatenated(found: Sequence[Pairs]) -> Pairs:
    """Several lists of pairs as one."""
    empty = [np.empty(0, dtype=np.int32)]
    return Pairs(
        np.concatenate([pairs.low for pairs in found] or empty),
        np.concatenate([pairs.high for pairs in found] or empty),
    )


def require_few(n_pairs: int, tau: float) -> None:
    """Raise ThresholdError when the graph would not fit into memory."""
    if n_pairs > MAX_PAIRS:
        raise ThresholdError(
            f"More than {MAX_PAIRS:,} pairs lie within tau = {tau}: raise tau or cluster fewer entries."
        )


def as_units(vectors: NDArray[np.floating]) -> Vectors:
    """Vectors as float32 of length 1; those that are so already keep every bit, zeros stay zeros.

    Raises ThresholdError for numbers that are not finite.
    """
    units = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("nd,nd->n", units, units))
    if not np.isfinite(lengths).all():
        raise ThresholdError("Some vectors hold numbers that are not finite: embed them anew.")
    off = (np.abs(lengths - 1) > 1e-6) & (lengths > 0)
    if off.any():
        units = units.copy()
        units[off] /= lengths[off, None]
    return units


def _distinct(units: Vectors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Of each distinct row its first index, ascending; of each row the place of its distinct one."""
    n, dimensions = units.shape
    if not n or not dimensions:
        return np.arange(n), np.arange(n)
    # Two numbers at a time, as integers. Adding 0.0 makes -0.0, which equals 0.0, the same bits.
    even = units[:, : dimensions - dimensions % 2]
    bits = np.ascontiguousarray(even + np.float32(0.0)).view(np.uint64)
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64) * 2 + 1
    hashes = bits @ factors
    _, first, distinct_of = np.unique(hashes, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[distinct_of] != np.arange(n))
    if (units[again] != units[first[distinct_of[again]]]).any():
        # Two rows have one hash by chance: rare enough for the slow way.
        _, first, distinct_of = np.unique(units, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[distinct_of]
