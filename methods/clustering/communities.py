"""Threshold communities (MMDU 2.2, 3.1: tau = 0.75).

A community is a centre and every text within tau of it; communities are taken largest first and do
not overlap (the semantics of sentence-transformers' `community_detection`). What belongs here: which of
the neighbours become a community. What does not: finding neighbours (`neighbours.py`), making vectors
(`resources/embedder.py`), drawing sets (`methods/image_sets.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Neighbours, Say, Vectors, cosines, find_neighbours


@dataclass(frozen=True)
class Community:
    """Indices of members, the centre first, then by falling similarity to it, all within tau."""

    centre: int
    members: tuple[int, ...]
    similarities: tuple[float, ...]


def threshold_communities(
    vectors: Vectors, tau: float, min_size: int = 2, say: Say | None = None
) -> list[Community]:
    """Disjoint communities of at least `min_size` at cosine >= `tau`, largest first.

    Every vector is a candidate centre with all its neighbours; candidates are taken by size, ties by
    the smaller index of the centre; a centre already taken is none, members already taken fall out,
    and what is left must still have `min_size`. Exact, deterministic. Cost: see `find_neighbours`.
    Raises ThresholdError.
    """
    if not len(vectors):
        return []
    return communities_of(find_neighbours(vectors, tau, say), min_size)


def communities_of(neighbours: Neighbours, min_size: int = 2) -> list[Community]:
    """Communities of a graph of neighbours, as `threshold_communities` says."""
    prepared = neighbours.prepared
    weights = np.bincount(prepared.distinct_of, minlength=len(prepared.vectors))
    found = _taken_largest_first(neighbours, weights, min_size)
    # Each distinct vector of a community stands for all that equal it.
    centres = np.array([centre for centre, _ in found], dtype=np.intp)
    rows = [np.array([centre, *members], dtype=np.intp) for centre, members in found]
    return _in_order(neighbours, centres, rows)


def _taken_largest_first(
    neighbours: Neighbours, weights: NDArray[np.intp], min_size: int
) -> list[tuple[int, NDArray[np.int32]]]:
    """Centres and the other distinct vectors they get, in the order in which they are taken."""
    n = len(weights)
    reach = np.concatenate([[0], np.cumsum(weights[neighbours.indices])])
    sizes = weights + reach[neighbours.starts[1:]] - reach[neighbours.starts[:-1]]
    candidates = np.flatnonzero(sizes >= min_size)
    # Rows stand in the order of their first appearance: the smaller row has the smaller index.
    candidates = candidates[np.argsort(-sizes[candidates], kind="stable")]
    taken = np.zeros(n, dtype=bool)
    found = []
    for centre in candidates.tolist():
        if taken[centre]:
            continue
        members = neighbours.of(centre)
        members = members[~taken[members]]
        if weights[centre] + weights[members].sum() >= min_size:
            taken[centre] = True
            taken[members] = True
            found.append((centre, members))
    return found


def _in_order(
    neighbours: Neighbours, centres: NDArray[np.intp], rows: Sequence[NDArray[np.intp]]
) -> list[Community]:
    """Communities of distinct vectors as communities of all vectors, each in its order."""
    if not rows:
        return []
    prepared = neighbours.prepared
    # Which community every vector is in, and as which distinct row.
    community_of = np.full(len(prepared.vectors), -1)
    community_of[np.concatenate(rows)] = np.repeat(
        np.arange(len(rows)), [len(each) for each in rows]
    )
    community = community_of[prepared.distinct_of]
    index = np.flatnonzero(community >= 0)
    community = community[index]
    row, centre = prepared.distinct_of[index], centres[community]
    # Rounding must neither make a cosine above 1 nor cost a vector the cosine 1 with its equals.
    similarity = np.minimum(cosines(prepared.vectors, row, centre, np.float64), 1.0)
    similarity[row == centre] = 1.0
    is_centre = index == prepared.first[centre]
    order = np.lexsort((index, -similarity, ~is_centre, community))
    ends = np.cumsum(np.bincount(community, minlength=len(rows)))[:-1]
    members = np.split(index[order], ends)
    similarities = np.split(similarity[order], ends)
    made = [
        Community(int(each[0]), tuple(each.tolist()), tuple(near.tolist()))
        for each, near in zip(members, similarities, strict=True)
    ]
    return sorted(made, key=lambda community: -len(community.members))
