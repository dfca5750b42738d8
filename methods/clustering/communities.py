"""Community detection: threshold communities (MMDU 2.2, 3.1: tau = 0.75), and clusters by HDBSCAN.

A threshold community is a centre and the vectors within tau of it. Communities are chosen largest first
and do not overlap (as in sentence-transformers' `community_detection`, here in the order of choice).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import (
    NeighbourGraph,
    OnProgress,
    Vectors,
    cosines,
    find_neighbours,
    unit_vectors,
)


@dataclass(frozen=True)
class Community:
    """A community: its centre, and its members, the centre first, the others by falling similarity."""

    centre: int
    members: tuple[int, ...]
    similarities: tuple[float, ...]


def threshold_communities(
    vectors: Vectors, tau: float, min_size: int = 2, on_progress: OnProgress | None = None
) -> list[Community]:
    """Find disjoint communities at cosine >= `tau`.

    Every vector with all its neighbours is a candidate. Candidates are visited by falling size, then by
    the smaller index of the centre. A candidate is skipped if its centre is already in a community;
    members that are already in one are removed, and at least `min_size` must remain. So a vector is in
    the first community whose centre is within tau of it. The result is exact and deterministic. The
    cost is that of `find_neighbours`.

    Args:
        vectors: Vectors, shape (n, d).
        tau: The least cosine of a member to the centre.
        min_size: The fewest members, the centre included.
        on_progress: Called with the number of blocks done and of all.

    Returns:
        The communities in the order in which they were chosen.

    Raises:
        ThresholdError: `tau` or the vectors are not usable, or there are too many pairs.
    """
    if not len(vectors):
        return []
    return communities_from_graph(find_neighbours(vectors, tau, on_progress), min_size)


def communities_from_graph(neighbours: NeighbourGraph, min_size: int = 2) -> list[Community]:
    """Find communities in a neighbour graph, as defined in `threshold_communities`.

    Args:
        neighbours: The pairs at cosine >= tau.
        min_size: The fewest members, the centre included.

    Returns:
        The communities in the order in which they were chosen.
    """
    prepared = neighbours.prepared
    weights = np.bincount(prepared.distinct_of, minlength=len(prepared.vectors))
    selected = _select_largest_first(neighbours, weights, min_size)
    # Rows are distinct vectors: each represents all vectors equal to it.
    centres = np.array([centre for centre, _ in selected], dtype=np.intp)
    rows = [np.array([centre, *members], dtype=np.intp) for centre, members in selected]
    return _in_order(neighbours, centres, rows)


def _select_largest_first(
    neighbours: NeighbourGraph, weights: NDArray[np.intp], min_size: int
) -> list[tuple[int, NDArray[np.int32]]]:
    """Select centres; return each with the rows of its other members, in the order of choice."""
    n = len(weights)
    totals = np.concatenate([[0], np.cumsum(weights[neighbours.indices])])
    sizes = weights + totals[neighbours.starts[1:]] - totals[neighbours.starts[:-1]]
    candidates = np.flatnonzero(sizes >= min_size)
    # Rows are in the order of first appearance: the smaller row has the smaller index.
    candidates = candidates[np.argsort(-sizes[candidates], kind="stable")]
    is_member = np.zeros(n, dtype=bool)
    selected = []
    for centre in candidates.tolist():
        if is_member[centre]:
            continue
        members = neighbours.neighbours_of(centre)
        members = members[~is_member[members]]
        if weights[centre] + weights[members].sum() >= min_size:
            is_member[centre] = True
            is_member[members] = True
            selected.append((centre, members))
    return selected


def _in_order(
    neighbours: NeighbourGraph, centres: NDArray[np.intp], rows: Sequence[NDArray[np.intp]]
) -> list[Community]:
    """Expand communities of distinct rows to all vectors, with members in order of similarity."""
    if not rows:
        return []
    prepared = neighbours.prepared
    # The community of each distinct row, then of each vector.
    community_of = np.full(len(prepared.vectors), -1)
    community_of[np.concatenate(rows)] = np.repeat(
        np.arange(len(rows)), [len(members) for members in rows]
    )
    community = community_of[prepared.distinct_of]
    index = np.flatnonzero(community >= 0)
    community = community[index]
    row, centre = prepared.distinct_of[index], centres[community]
    # Rounding must not give a cosine above 1, nor less than 1 to equal vectors.
    similarity = np.minimum(cosines(prepared.vectors, row, centre, np.float64), 1.0)
    similarity[row == centre] = 1.0
    is_centre = index == prepared.first[centre]
    order = np.lexsort((index, -similarity, ~is_centre, community))
    ends = np.cumsum(np.bincount(community, minlength=len(rows)))[:-1]
    members = np.split(index[order], ends)
    similarities = np.split(similarity[order], ends)
    return [
        Community(int(community[0]), tuple(community.tolist()), tuple(near.tolist()))
        for community, near in zip(members, similarities, strict=True)
    ]


def density_communities(vectors: Vectors, min_size: int = 2) -> list[Community]:
    """Cluster vectors by density, with HDBSCAN.

    A cluster's centre is its medoid, the member with the largest mean cosine to all members (ties: the
    smaller index); no tau bounds how far members are from it. On unit vectors Euclidean distance orders
    pairs as the cosine does. Vectors of one uniform density form no cluster. The cost is about n^2 d.

    Args:
        vectors: Vectors, shape (n, d).
        min_size: The fewest members of a cluster, at least 2.

    Returns:
        The clusters, largest first, ties by the smallest index.

    Raises:
        ThresholdError: The vectors have numbers that are not finite.
    """
    import hdbscan

    min_size = max(min_size, 2)
    if len(vectors) < min_size:
        return []
    units = unit_vectors(vectors)
    labels = hdbscan.HDBSCAN(
        min_cluster_size=min_size,
        min_samples=min(min_size, len(units) - 1),
        # Leaves of the tree are the most homogeneous; the default prefers large mixed clusters.
        cluster_selection_method="leaf",
        approx_min_span_tree=False,
        core_dist_n_jobs=1,
    ).fit_predict(units)
    members_of = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    communities = [_around_medoid(units, members) for members in members_of]
    return sorted(
        communities, key=lambda community: (-len(community.members), min(community.members))
    )


def _around_medoid(units: Vectors, members: NDArray[np.intp]) -> Community:
    inside = units[members].astype(np.float64)
    centre = int(np.argmax(inside @ inside.sum(axis=0)))
    cosines = np.minimum(inside @ inside[centre], 1.0)
    cosines[centre] = 1.0
    order = np.lexsort((members, -cosines, np.arange(len(members)) != centre))
    return Community(
        int(members[centre]), tuple(members[order].tolist()), tuple(cosines[order].tolist())
    )
