"""Approximate nearest-neighbour search within tau among millions of vectors, with measured recall.

An inverted file (IVF): FAISS's k-means divides the vectors into cells, and each vector is compared with
the cells whose centres are nearest to it. The number of cells to probe is chosen on a sample whose
neighbours are known exactly; recall is then measured on another sample. Whether a pair is within tau is
decided as in the exact mode, so precision is 1.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import (
    NeighbourGraph,
    OnProgress,
    Pairs,
    PreparedVectors,
    Vectors,
    concatenate_pairs,
    map_in_threads,
    merge,
    prepare,
    require_pair_limit,
    within_tau,
)

if TYPE_CHECKING:
    import faiss

SAMPLE_ROWS = 512
CELLS_PER_ROOT = 0.5
"""The number of cells is this times the square root of the number of vectors."""
TRAIN_ITERATIONS = 5
TRAIN_POINTS_PER_CELL = 40
PAD = 512
"""Cells are padded to multiples of this: torch compiles a product for each new shape."""
LOSS_SHARE = 0.5
"""Share of the allowed recall loss for the first sample: another sample loses a little more."""


@dataclass(frozen=True)
class Recall:
    """Recall on sampled vectors: numbers of found and of true neighbours, and search parameters."""

    n_found: int
    true: int
    n_sampled: int
    n_cells: int
    n_probes: int

    @property
    def share(self) -> float:
        """Found / true; 1 if the sample has no neighbours."""
        return self.n_found / self.true if self.true else 1.0


def approximate_neighbours(
    vectors: Vectors,
    tau: float,
    wanted: float = 0.99,
    seed: int = 0,
    on_progress: OnProgress | None = None,
) -> tuple[NeighbourGraph, Recall]:
    """Find pairs at cosine >= `tau` approximately, and measure the recall.

    The result is deterministic for the same vectors and seed. The cost is the products of n vectors
    with `n_probes` cells of about 2 sqrt(n) vectors each.

    Args:
        vectors: Vectors, shape (n, d).
        tau: The least cosine.
        wanted: The recall to aim at, 0 to 1.
        seed: The seed of the cells and of the samples that the recall is measured on.
        on_progress: Called with the number of cells done and of all.

    Raises:
        ThresholdError: `tau` or the vectors are not usable, or there are too many pairs.
    """
    prepared = prepare(vectors, tau)
    n_cells = max(1, round(np.sqrt(len(prepared.vectors)) * CELLS_PER_ROOT))
    centres = _cell_centres(prepared.vectors, n_cells, seed)
    order = np.random.default_rng(seed).permutation(len(prepared.vectors))
    tuning, measured = order[:SAMPLE_ROWS], order[-SAMPLE_ROWS:]
    n_probes = _probes_for(prepared, centres, tuning, 1 - (1 - wanted) * LOSS_SHARE)
    neighbours = merge(prepared, _probe(prepared, centres, n_probes, on_progress))
    true = _true_pairs(prepared, measured)
    n_found = sum(
        len(np.intersect1d(neighbours.neighbours_of(row), true.high[true.low == row]))
        for row in np.unique(true.low)
    )
    return neighbours, Recall(n_found, len(true.low), len(measured), n_cells, n_probes)


def _cell_centres(vectors: Vectors, n_cells: int, seed: int) -> "faiss.Index":
    """Build a FAISS index of the cells' centres, by k-means."""
    import faiss

    means = faiss.Kmeans(
        vectors.shape[1],
        n_cells,
        niter=TRAIN_ITERATIONS,
        spherical=True,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=TRAIN_POINTS_PER_CELL,
    )
    means.train(vectors)
    return means.index


def _true_pairs(prepared: PreparedVectors, rows: NDArray[np.intp]) -> Pairs:
    """Find all true neighbours of `rows`: `low` is the row, `high` its neighbour."""
    left, right = (prepared.pair_filter.select(part) for part in (rows, slice(None)))
    all_pairs = []
    for near, other in prepared.pair_filter.candidates(left, right):
        apart = rows[near] != other
        all_pairs.append(within_tau(prepared, rows[near[apart]], other[apart]))
    return concatenate_pairs(all_pairs)


def _probes_for(
    prepared: PreparedVectors, centres: "faiss.Index", rows: NDArray[np.intp], wanted: float
) -> int:
    """Find the fewest cells to probe so that the share `wanted` of the neighbours of `rows` is found.

    A pair is found if one of the two vectors probes the other's cell.
    """
    true = _true_pairs(prepared, rows)
    if not len(true.low):
        return 1

    def probe_rank(query: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.intp]:
        """Rank of the target's own cell among the cells that the query probes, nearest first."""
        _, cells = centres.search(prepared.vectors[query], centres.ntotal)
        _, own = centres.search(prepared.vectors[target], 1)
        return (cells == own).argmax(axis=1)

    ranks = np.minimum(probe_rank(true.low, true.high), probe_rank(true.high, true.low))
    return int(np.quantile(ranks, wanted, method="higher")) + 1


def _probe(
    prepared: PreparedVectors,
    centres: "faiss.Index",
    n_probes: int,
    on_progress: OnProgress | None,
) -> list[Pairs]:
    """Find the pairs between each cell's members and the vectors that probe it, each pair once."""
    n_cells = centres.ntotal
    _, probes = centres.search(prepared.vectors, n_probes)
    own = probes[:, 0]
    by_cell = np.argsort(own, kind="stable")
    ends = np.cumsum(np.bincount(own, minlength=n_cells))
    # The rows that probe each cell, cell by cell: cell c has row[starts[c]:starts[c + 1]].
    row = np.argsort(probes, axis=None, kind="stable") // n_probes
    starts = np.concatenate([[0], np.cumsum(np.bincount(probes.ravel(), minlength=n_cells))])

    def pairs_of(cell: int) -> Pairs:
        members = by_cell[ends[cell - 1] if cell else 0 : ends[cell]]
        queries = row[starts[cell] : starts[cell + 1]]
        pair_filter = prepared.pair_filter
        all_pairs = []
        heads = (pair_filter.select(_padded(rows)) for rows in (queries, members))
        for query_rows, member_rows in pair_filter.candidates(*heads):
            real = (query_rows < len(queries)) & (member_rows < len(members))
            left, right = queries[query_rows[real]], members[member_rows[real]]
            # If both probe each other's cell, the pair counts only from the smaller row.
            mutual = (probes[right] == own[left][:, None]).any(axis=1)
            once = (left != right) & ((left < right) | ~mutual)
            low, high = np.minimum(left, right)[once], np.maximum(left, right)[once]
            all_pairs.append(within_tau(prepared, low, high))
        return concatenate_pairs(all_pairs)

    done: list[Pairs] = []
    for pairs in map_in_threads(pairs_of, range(n_cells)):
        done.append(pairs)
        require_pair_limit(sum(len(pairs.low) for pairs in done), prepared.tau)
        if on_progress is not None:
            on_progress(len(done), n_cells)
    return done


def _padded(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Repeat row numbers from the first on, up to a multiple of PAD."""
    return np.resize(rows, -(-len(rows) // PAD) * PAD)
