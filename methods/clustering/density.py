"""Density clusters by HDBSCAN: the alternative for the caption pass where one threshold does not fit.

HDBSCAN finds clusters of different densities and leaves noise out. What belongs here: converting its
clusters to communities, so that callers need not know which algorithm found them.
"""

import numpy as np
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import Vectors, unit_vectors


def density_communities(vectors: Vectors, min_size: int = 2) -> list[Community]:
    """HDBSCAN's clusters of unit vectors, shape (n, d), largest first, ties by the smallest index.

    A cluster's centre is its medoid, the member with the largest mean cosine to all members (ties:
    the smaller index); no tau bounds how far members are from it. On unit vectors Euclidean distance
    orders pairs as the cosine does. Vectors of one uniform density form no cluster. Cost: about
    n^2 d. Raises ThresholdError for numbers that are not finite.
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
    return sorted(communities, key=lambda each: (-len(each.members), min(each.members)))


def _around_medoid(units: Vectors, members: NDArray[np.intp]) -> Community:
    inside = units[members].astype(np.float64)
    centre = int(np.argmax(inside @ inside.sum(axis=0)))
    cosines = np.minimum(inside @ inside[centre], 1.0)
    cosines[centre] = 1.0
    order = np.lexsort((members, -cosines, np.arange(len(members)) != centre))
    return Community(
        int(members[centre]), tuple(members[order].tolist()), tuple(cosines[order].tolist())
    )
