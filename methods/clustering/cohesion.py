"""How tight clusters are, and which of them lie so near each other that they may be one.

What belongs here: figures about clusters that are made. What does not: making them (`communities.py`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Vectors, cosines

Numbers = NDArray[np.intp]


@dataclass(frozen=True)
class Numbered:
    """n vectors in k clusters, by their numbers 0..k-1."""

    vectors: Vectors
    labels: Numbers
    """Of each vector the number of its cluster, or -1; shape (n,)."""
    is_centre: NDArray[np.bool_]
    """Whether it is what stands at the centre of its cluster; shape (n,)."""
    centres: Vectors
    """The centres, shape (k, d): one may be there whose entry has gone."""


class Figures(NamedTuple):
    """Figures of k clusters, arrays of shape (k,): all about the similarity to the centre."""

    sizes: Numbers
    mean: NDArray[np.float64]
    lowest: NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Two clusters, a < b, whose centres are near each other."""

    a: int
    b: int
    similarity: float
    """Of the two centres."""
    union: float
    """The lowest similarity of any member of both to one of the two centres, the better one."""


def figures(of: Numbered) -> Figures:
    """Size, mean and lowest similarity to the centre of each cluster.

    The centre's own similarity is left out: it is 1 whatever the cluster, and would make small
    clusters look tighter than large ones. A centre alone has 1.
    """
    k = len(of.centres)
    # Products need both sides in one array.
    both = np.concatenate([of.vectors, of.centres])
    others = np.flatnonzero((of.labels >= 0) & ~of.is_centre)
    labels = of.labels[others]
    similarities = np.minimum(cosines(both, others, len(of.vectors) + labels), 1.0)
    n_others = np.bincount(labels, minlength=k)
    sums = np.bincount(labels, weights=similarities, minlength=k)
    mean = np.divide(sums, n_others, out=np.ones(k), where=n_others > 0)
    lowest = np.ones(k)
    np.minimum.at(lowest, labels, similarities)
    return Figures(np.bincount(of.labels[of.labels >= 0], minlength=k), mean, lowest)


def nearest_centres(centres: Vectors, n_nearest: int) -> tuple[Numbers, NDArray[np.float32]]:
    """The `n_nearest` other centres of each, nearest first, with their similarities.

    Two arrays of shape (k, n_nearest), -1 and -inf where there are not so many. Exact. Cost: k^2 d
    multiply-adds (100,000 centres of 384 numbers: 43 s on two cores); memory does not grow with k^2.
    """
    import faiss

    shape = (len(centres), n_nearest)
    if not len(centres):
        return np.empty(shape, dtype=np.intp), np.empty(shape, dtype=np.float32)
    index = faiss.IndexFlatIP(centres.shape[1])
    index.add(centres)
    similarities, found = index.search(centres, n_nearest + 1)
    itself = found == np.arange(len(centres))[:, None]
    # Among many equal vectors a centre may be missing from its own list: then the last one goes.
    itself[~itself.any(axis=1), -1] = True
    similarities = np.where(found < 0, -np.inf, np.minimum(similarities, 1.0))
    return found[~itself].reshape(shape), similarities[~itself].reshape(shape)


def pairs_of_centres(of: Numbered, n_nearest: int, at_least: float) -> list[Pair]:
    """Pairs of clusters whose centres are at least so similar, one among the other's `n_nearest`.

    Nearest first. Cost: as `nearest_centres`, and for each pair the members of both times d.
    """
    found, similarities = nearest_centres(of.centres, n_nearest)
    near = np.argwhere(similarities >= at_least)
    pairs = {
        (min(a, b), max(a, b)): float(similarities[a, place])
        for a, place in near.tolist()
        for b in (int(found[a, place]),)
    }
    lowest = figures(of).lowest
    by_cluster = np.argsort(of.labels, kind="stable")
    first = np.searchsorted(of.labels[by_cluster], np.arange(len(of.centres) + 1))

    def union(a: int, b: int) -> float:
        """The lowest similarity of any member of both, and of b's centre, to the centre of `a`."""
        of_b = of.vectors[by_cluster[first[b] : first[b + 1]]]
        return float(
            min(lowest[a], (of_b @ of.centres[a]).min(initial=pairs[min(a, b), max(a, b)]))
        )

    made = [Pair(a, b, near, max(union(a, b), union(b, a))) for (a, b), near in pairs.items()]
    return sorted(made, key=lambda pair: (-pair.similarity, pair.a, pair.b))
