"""Cohesion of clusters, and pairs of clusters that are near enough to be merged."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Vectors, cosines

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class LabelledVectors:
    """n vectors in k clusters, which are numbered 0 to k - 1."""

    vectors: Vectors
    labels: Numbers
    """Index of each vector's cluster, -1 for none; shape (n,)."""
    is_centre: NDArray[np.bool_]
    """Whether the vector is its cluster's centre; shape (n,)."""
    centres: Vectors
    """The centres, shape (k, d); a centre stays even if its entry was removed."""


class Cohesion(NamedTuple):
    """Size, mean and lowest similarity to the centre of k clusters; arrays of shape (k,)."""

    sizes: Numbers
    mean: NDArray[np.float64]
    lowest: NDArray[np.float64]


@dataclass(frozen=True)
class CentrePair:
    """Two clusters, a < b, whose centres are near each other."""

    a: int
    b: int
    similarity: float
    """Cosine of the two centres."""
    union_similarity: float
    """Lowest similarity of all members of both clusters to one centre, for the better centre."""


def measure_cohesion(labelled: LabelledVectors) -> Cohesion:
    """Measure size, mean and lowest similarity to the centre of each cluster.

    The centre's own similarity is excluded: it is always 1 and would make small clusters look tighter
    than large ones. A cluster with only its centre has 1.
    """
    k = len(labelled.centres)
    # `cosines` takes both sides from one array.
    both = np.concatenate([labelled.vectors, labelled.centres])
    others = np.flatnonzero((labelled.labels >= 0) & ~labelled.is_centre)
    labels = labelled.labels[others]
    similarities = np.minimum(cosines(both, others, len(labelled.vectors) + labels), 1.0)
    n_others = np.bincount(labels, minlength=k)
    sums = np.bincount(labels, weights=similarities, minlength=k)
    mean = np.divide(sums, n_others, out=np.ones(k), where=n_others > 0)
    lowest = np.ones(k)
    np.minimum.at(lowest, labels, similarities)
    return Cohesion(np.bincount(labelled.labels[labelled.labels >= 0], minlength=k), mean, lowest)


def nearest_centres(centres: Vectors, n_nearest: int) -> tuple[Numbers, NDArray[np.float32]]:
    """Find the nearest other centres of each centre, exactly.

    The cost is k^2 d multiply-adds (100,000 centres of 384 dimensions: 43 s on two cores); memory is
    linear in k.

    Args:
        centres: Unit vectors, shape (k, d).
        n_nearest: The number of other centres to find.

    Returns:
        Indices and cosines, both of shape (k, n_nearest), nearest first; filled up with -1 and -inf.
    """
    import faiss

    shape = (len(centres), n_nearest)
    if not len(centres):
        return np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.float32)
    index = faiss.IndexFlatIP(centres.shape[1])
    index.add(centres)
    similarities, nearest = index.search(centres, n_nearest + 1)
    itself = nearest == np.arange(len(centres))[:, None]
    # Among many equal vectors a centre may be missing from its own list: then drop the last one.
    itself[~itself.any(axis=1), -1] = True
    similarities = np.where(nearest < 0, -np.inf, np.minimum(similarities, 1.0))
    return nearest[~itself].reshape(shape), similarities[~itself].reshape(shape)


def near_centre_pairs(
    labelled: LabelledVectors, n_nearest: int, min_similarity: float
) -> list[CentrePair]:
    """List the pairs of clusters whose centres are near each other, nearest pairs first.

    The cost is that of `nearest_centres` and d multiply-adds for each member of each pair.

    Args:
        labelled: The vectors, the cluster of each vector, and the centres.
        n_nearest: The number of other centres with which each centre is compared.
        min_similarity: The least cosine of two centres.
    """
    nearest, similarities = nearest_centres(labelled.centres, n_nearest)
    near = np.argwhere(similarities >= min_similarity)
    pairs: dict[tuple[int, int], float] = {}
    for a, place in near.tolist():
        b = int(nearest[a, place])
        pairs[min(a, b), max(a, b)] = float(similarities[a, place])
    lowest = measure_cohesion(labelled).lowest
    by_cluster = np.argsort(labelled.labels, kind="stable")
    first = np.searchsorted(labelled.labels[by_cluster], np.arange(len(labelled.centres) + 1))

    def union(a: int, b: int) -> float:
        """Lowest similarity to the centre of `a` of the members of a and b and of b's centre."""
        of_b = labelled.vectors[by_cluster[first[b] : first[b + 1]]]
        return float(
            min(lowest[a], (of_b @ labelled.centres[a]).min(initial=pairs[min(a, b), max(a, b)]))
        )

    measured = [
        CentrePair(a, b, near, max(union(a, b), union(b, a))) for (a, b), near in pairs.items()
    ]
    return sorted(measured, key=lambda pair: (-pair.similarity, pair.a, pair.b))
