"""Neighbours within tau among millions of vectors: nearly all of them, and how nearly is measured.

An inverted file: FAISS's k-means cuts the vectors into cells, and each vector looks only into the cells
whose centres are nearest to it. How many cells that takes is read from a sample whose neighbours are
known exactly; what share of them is found is then measured on another sample. What belongs here: which
pairs are looked at. Whether a pair is within tau is decided as in the exact mode: none found is false.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import (
    Neighbours,
    Pairs,
    Prepared,
    Say,
    Vectors,
    concatenated,
    merge,
    prepare,
    require_few,
    side_by_side,
    within_tau,
)

if TYPE_CHECKING:
    import faiss

SAMPLE_ROWS = 512
CELLS_OF_ROOT = 0.5
"""Cells for each of the square root of the number of vectors."""
TRAIN_ITERATIONS = 5
TRAIN_POINTS_A_CELL = 40
PAD = 512
"""A product is compiled for each new shape, so that cells of all sizes are brought to few shapes."""
SPARE = 0.5
"""Of the loss allowed, the part that a sample may use up: another sample will lose a little more."""


@dataclass(frozen=True)
class Recall:
    """How many of the true neighbours of some sampled vectors were found."""

    found: int
    true: int
    n_sampled: int
    n_cells: int
    n_probes: int

    @property
    def share(self) -> float:
        """Found of true; 1 where the sample has no neighbours."""
        return self.found / self.true if self.true else 1.0


def approximate_neighbours(
    vectors: Vectors, tau: float, wanted: float = 0.99, seed: int = 0, say: Say | None = None
) -> tuple[Neighbours, Recall]:
    """Pairs at cosine >= `tau`, about `wanted` of them or more, and the share measured.

    The same for the same vectors and seed. Cost: products of n vectors with `n_probes` cells of about
    sqrt(n) vectors each. Raises ThresholdError.
    """
    prepared = prepare(vectors, tau)
    n_cells = max(1, round(np.sqrt(len(prepared.vectors)) * CELLS_OF_ROOT))
    centres = _cell_centres(prepared.vectors, n_cells, seed)
    order = np.random.default_rng(seed).permutation(len(prepared.vectors))
    tried, measured = order[:SAMPLE_ROWS], order[-SAMPLE_ROWS:]
    n_probes = _probes_for(prepared, centres, tried, 1 - (1 - wanted) * SPARE)
    neighbours = merge(prepared, _probe(prepared, centres, n_probes, say))
    true = _true_pairs(prepared, measured)
    found = sum(
        len(np.intersect1d(neighbours.of(row), true.high[true.low == row]))
        for row in np.unique(true.low)
    )
    return neighbours, Recall(found, len(true.low), len(measured), n_cells, n_probes)


def _cell_centres(vectors: Vectors, n_cells: int, seed: int) -> "faiss.Index":
    """Centres of cells, in an index that finds those nearest to a vector."""
    import faiss

    means = faiss.Kmeans(
        vectors.shape[1],
        n_cells,
        niter=TRAIN_ITERATIONS,
        spherical=True,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=TRAIN_POINTS_A_CELL,
    )
    means.train(vectors)
    return means.index


def _true_pairs(prepared: Prepared, rows: NDArray[np.intp]) -> Pairs:
    """Every neighbour of some rows: `low` is the row, `high` its neighbour."""
    screen = prepared.screen
    found = []
    for near, other in screen.passing(screen.select(rows), screen.select(slice(None))):
        apart = rows[near] != other
        found.append(within_tau(prepared, rows[near[apart]], other[apart]))
    return concatenated(found)


def _probes_for(
    prepared: Prepared, centres: "faiss.Index", rows: NDArray[np.intp], wanted: float
) -> int:
    """The fewest cells to look into so that `wanted` of the neighbours of some rows are found.

    A pair is found when one of the two looks into the other's cell.
    """
    true = _true_pairs(prepared, rows)
    if not len(true.low):
        return 1

    def place(looking: NDArray[np.int32], found: NDArray[np.int32]) -> NDArray[np.intp]:
        """Place of the found one's own cell in the order in which the looking one takes them."""
        _, cells = centres.search(prepared.vectors[looking], centres.ntotal)
        _, own = centres.search(prepared.vectors[found], 1)
        return (cells == own).argmax(axis=1)

    places = np.minimum(place(true.low, true.high), place(true.high, true.low))
    return int(np.quantile(places, wanted, method="higher")) + 1


def _probe(
    prepared: Prepared, centres: "faiss.Index", n_probes: int, say: Say | None
) -> list[Pairs]:
    """Pairs between each cell's own vectors and all that look into it, each pair once."""
    n_cells = centres.ntotal
    _, probes = centres.search(prepared.vectors, n_probes)
    own = probes[:, 0]
    by_cell = np.argsort(own, kind="stable")
    ends = np.cumsum(np.bincount(own, minlength=n_cells))
    # Who looks into a cell: the places of the cell in `probes`, in the order of the rows.
    row = np.argsort(probes, axis=None, kind="stable") // n_probes
    looking = np.concatenate([[0], np.cumsum(np.bincount(probes.ravel(), minlength=n_cells))])

    def pairs_of(cell: int) -> Pairs:
        members = by_cell[ends[cell - 1] if cell else 0 : ends[cell]]
        lookers = row[looking[cell] : looking[cell + 1]]
        screen = prepared.screen
        found = []
        heads = (screen.select(_padded(rows)) for rows in (lookers, members))
        for one, other in screen.passing(*heads):
            real = (one < len(lookers)) & (other < len(members))
            left, right = lookers[one[real]], members[other[real]]
            # If the other looks into this one's cell too, the pair is found from the smaller row.
            mutual = (probes[right] == own[left][:, None]).any(axis=1)
            once = (left != right) & ((left < right) | ~mutual)
            low, high = np.minimum(left, right)[once], np.maximum(left, right)[once]
            found.append(within_tau(prepared, low, high))
        return concatenated(found)

    done: list[Pairs] = []
    for pairs in side_by_side(pairs_of, range(n_cells)):
        done.append(pairs)
        require_few(sum(len(each.low) for each in done), prepared.tau)
        if say is not None:
            say(len(done), n_cells)
    return done


def _padded(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Rows, and from the first again up to a multiple of PAD."""
    return np.resize(rows, -(-len(rows) // PAD) * PAD)
