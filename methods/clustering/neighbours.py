"""Exact search for all pairs of vectors at cosine >= tau, and the neighbour graph of these pairs.

Filter and refine: `pair_filter.py` excludes most pairs by a cheap upper bound, and the rest are
compared in full. Blocks of rows are independent of each other, so threads of this process or workers of
a Ray cluster can process them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from methods.clustering.pair_filter import TILE_ROWS, PairFilter, make_pair_filter
from methods.errors import UserError

Vectors = NDArray[np.float32]
"""Unit vectors as rows: shape (n, d)."""

MAX_PAIRS = 2**29
"""Limit of the number of pairs: all are in memory, with 16 bytes each while they are sorted."""

PAIRS_AT_ONCE = 1024
FLOAT64_MARGIN = 1e-5
"""A float32 cosine closer to tau than this is computed again in float64."""


class ThresholdError(UserError):
    """Clustering cannot use this tau or these vectors."""


@dataclass(frozen=True)
class PreparedVectors:
    """The input of every block: the distinct vectors among n vectors, and their pair filter."""

    vectors: Vectors
    """The distinct vectors, shape (m, d), in the order of their first appearance."""
    pair_filter: PairFilter
    tau: float
    first: NDArray[np.intp]
    """Index of the first appearance of each distinct vector, shape (m,)."""
    distinct_of: NDArray[np.intp]
    """Row of the distinct vector that equals each input vector, shape (n,)."""


@dataclass(frozen=True)
class Pairs:
    """Pairs within tau, each once, as two arrays of row indexes of distinct vectors, `low` < `high`."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


@dataclass(frozen=True)
class NeighbourGraph:
    """Adjacency in CSR form: the neighbours of row i are indices[starts[i]:starts[i + 1]], ascending.

    Rows are those of `prepared.vectors`; a row is not its own neighbour.
    """

    prepared: PreparedVectors
    starts: NDArray[np.int64]
    indices: NDArray[np.int32]

    def neighbours_of(self, row: int) -> NDArray[np.int32]:
        """The neighbours of a row, ascending."""
        return self.indices[self.starts[row] : self.starts[row + 1]]


Part = TypeVar("Part")
OnProgress = Callable[[int, int], None]
"""Called with the number of blocks that are done and the number of all blocks."""


def find_neighbours(
    vectors: Vectors, tau: float, on_progress: OnProgress | None = None
) -> NeighbourGraph:
    """Find every pair at cosine >= `tau`, in as many threads as torch may use.

    The cosine of a pair is the float64 product of its float32 vectors, and 1 for equal vectors. The
    cost is n^2 / 2 short products. Memory holds a few tiles and 16 bytes for each pair.

    Args:
        vectors: Vectors, shape (n, d).
        tau: The smallest cosine of neighbours.
        on_progress: Called with the number of blocks done and of all.

    Raises:
        ThresholdError: `tau` or the vectors are not usable, or there are too many pairs.
    """
    prepared = prepare(vectors, tau)
    todo = blocks(prepared)
    all_pairs: list[Pairs] = []
    for pairs in map_in_threads(lambda block: block_pairs(prepared, *block), todo):
        all_pairs.append(pairs)
        require_pair_limit(sum(len(block.low) for block in all_pairs), tau)
        if on_progress is not None:
            on_progress(len(all_pairs), len(todo))
    return merge(prepared, all_pairs)


def map_in_threads(work: Callable[[Part], Pairs], parts: Sequence[Part]) -> Iterator[Pairs]:
    """Apply a function to each part in as many threads as torch may use.

    Args:
        work: Computes the pairs of a part.
        parts: The parts.

    Yields:
        The results in the order of the parts.
    """
    if len(parts) < 2:
        yield from map(work, parts)
        return
    import torch

    # Each worker multiplies in one thread: further torch threads would wait for each other.
    n_threads = torch.get_num_threads()
    pool = ThreadPoolExecutor(n_threads, initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield from pool.map(work, parts)
    finally:
        # If the caller stops or fails, only the parts that are running are waited for.
        pool.shutdown(cancel_futures=True)
        # The setting of a thread also applies to threads that start later.
        torch.set_num_threads(n_threads)


def prepare(vectors: Vectors, tau: float) -> PreparedVectors:
    """Prepare vectors for the search of neighbours.

    Args:
        vectors: The vectors, shape (n, d).
        tau: The smallest cosine of neighbours, -1 to 1.

    Returns:
        The distinct vectors as float32 unit vectors, with their pair filter.

    Raises:
        ThresholdError: tau is out of range, or a vector has numbers that are not finite.
    """
    if not -1 <= tau <= 1:
        raise ThresholdError(f"tau is a cosine: give a number from -1 to 1, not {tau}.")
    units = unit_vectors(vectors)
    first, distinct_of = _distinct(units)
    distinct = units if len(first) == len(units) else units[first]
    return PreparedVectors(distinct, make_pair_filter(distinct, tau), tau, first, distinct_of)


def blocks(prepared: PreparedVectors, rows: int = TILE_ROWS) -> list[tuple[int, int]]:
    """Divide the rows into blocks that together cover all pairs; the first block has the most columns.

    Args:
        prepared: The vectors.
        rows: The rows of a block.

    Returns:
        The first row of each block and the row after its last one.
    """
    n = len(prepared.vectors)
    return [(start, min(start + rows, n)) for start in range(0, n, rows)]


def block_pairs(prepared: PreparedVectors, start: int, stop: int) -> Pairs:
    """Find the neighbour pairs of a block of rows with each other and with all later rows.

    Args:
        prepared: The vectors.
        start: The first row of the block.
        stop: The row after the block.

    Returns:
        The pairs; `low` is less than `high`.
    """
    pair_filter = prepared.pair_filter
    left, right = pair_filter.select(slice(start, stop)), pair_filter.select(slice(start, None))
    all_pairs = []
    for low, high in pair_filter.candidates(left, right):
        later = high > low
        all_pairs.append(within_tau(prepared, low[later] + start, high[later] + start))
    return concatenate_pairs(all_pairs)


def merge(prepared: PreparedVectors, blocks: Iterable[Pairs]) -> NeighbourGraph:
    """Merge the pairs of all blocks into a graph.

    Args:
        prepared: The vectors.
        blocks: The pairs of each block, in any order.

    Raises:
        ThresholdError: There are too many pairs.
    """
    from scipy.sparse import coo_array

    pairs = concatenate_pairs(list(blocks))
    require_pair_limit(len(pairs.low), prepared.tau)
    n = len(prepared.vectors)
    ones = np.ones(len(pairs.low), dtype=bool)
    upper = coo_array((ones, (pairs.low, pairs.high)), shape=(n, n)).tocsr()
    graph = (upper + upper.T).tocsr()
    graph.sort_indices()
    return NeighbourGraph(
        prepared, graph.indptr.astype(np.int64), graph.indices.astype(np.int32, copy=False)
    )


def within_tau(prepared: PreparedVectors, low: NDArray[np.intp], high: NDArray[np.intp]) -> Pairs:
    """Keep the candidate pairs whose full vectors are within tau.

    Args:
        prepared: The vectors and tau.
        low: The smaller row of each candidate pair.
        high: The larger row of each candidate pair.
    """
    cosine = cosines(prepared.vectors, low, high)
    near = cosine >= prepared.tau
    close = np.flatnonzero(np.abs(cosine - prepared.tau) < FLOAT64_MARGIN)
    near[close] = cosines(prepared.vectors, low[close], high[close], np.float64) >= prepared.tau
    return Pairs(low[near].astype(np.int32), high[near].astype(np.int32))


def cosines(
    vectors: Vectors,
    left: NDArray[np.integer],
    right: NDArray[np.integer],
    number: type[np.floating] = np.float32,
) -> NDArray[np.floating]:
    """Compute the dot products of pairs of rows, a few pairs at a time, to stay in the cache.

    Args:
        vectors: The unit vectors, shape (n, d).
        left: The first row of each pair, shape (k,).
        right: The second row of each pair, shape (k,).
        number: The type in which products are computed.

    Returns:
        The products, shape (k,).
    """
    products = np.empty(len(left), dtype=number)
    for start in range(0, len(left), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        products[part] = np.einsum(
            "nd,nd->n",
            vectors[left[part]].astype(number, copy=False),
            vectors[right[part]].astype(number, copy=False),
        )
    return products


def concatenate_pairs(blocks: Sequence[Pairs]) -> Pairs:
    """Concatenate the pairs of several blocks."""
    empty = [np.empty(0, dtype=np.int32)]
    return Pairs(
        np.concatenate([pairs.low for pairs in blocks] or empty),
        np.concatenate([pairs.high for pairs in blocks] or empty),
    )


def require_pair_limit(n_pairs: int, tau: float) -> None:
    """Check that there are not too many pairs for memory.

    Args:
        n_pairs: The number of pairs.
        tau: The least cosine, for the message.

    Raises:
        ThresholdError: There are more than `MAX_PAIRS`.
    """
    if n_pairs > MAX_PAIRS:
        raise ThresholdError(
            f"More than {MAX_PAIRS:,} pairs lie within tau = {tau}: raise tau or cluster fewer entries."
        )


def unit_vectors(vectors: NDArray[np.floating]) -> Vectors:
    """Scale vectors to float32 of length 1. Float32 unit vectors keep every bit, zeros stay zeros.

    Raises ThresholdError for numbers that are not finite.
    """
    units = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("nd,nd->n", units, units))
    if not np.isfinite(lengths).all():
        raise ThresholdError("Some vectors hold numbers that are not finite: embed them again.")
    off = (np.abs(lengths - 1) > 1e-6) & (lengths > 0)
    if off.any():
        units = units.copy()
        units[off] /= lengths[off, None]
    return units


def _distinct(units: Vectors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the first index of each distinct row, ascending, and the distinct row of each row.

    Equals np.unique(axis=0) in the order of first appearance, but uses a hash of each row.
    """
    n, dimensions = units.shape
    if not n or not dimensions:
        return np.arange(n), np.arange(n)
    # Take two numbers at a time as an integer. Adding 0.0 gives -0.0 the same bits as 0.0.
    even = units[:, : dimensions - dimensions % 2]
    bits = np.ascontiguousarray(even + np.float32(0.0)).view(np.uint64)
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64) * 2 + 1
    hashes = bits @ factors
    _, first, distinct_of = np.unique(hashes, return_index=True, return_inverse=True)
    again = np.flatnonzero(first[distinct_of] != np.arange(n))
    if (units[again] != units[first[distinct_of[again]]]).any():
        # Hash collision: compare whole rows. Slow, but too rare to matter.
        _, first, distinct_of = np.unique(units, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[distinct_of]
