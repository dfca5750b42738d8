"""Density clusters by HDBSCAN: the alternative for the caption pass, where no one threshold fits.

A dense place is found at the density it has, and what lies in none stays out. What belongs here:
HDBSCAN's clusters in the form of communities, so that what follows need not know how they were found.
"""

import numpy as np
from numpy.typing import NDArray

from methods.clustering.communities import Community
from methods.clustering.neighbours import Vectors, as_units


def density_communities(vectors: Vectors, min_size: int = 2) -> list[Community]:
    """HDBSCAN's clusters of unit vectors, shape (n, d), largest first, ties by the smallest index.

    A cluster's centre is its medoid, the member with the largest mean cosine to all (ties: the smaller
    index); others may lie further from it than any tau. On unit vectors Euclidean distance orders pairs
    as the cosine does. Vectors that are one dense place have no cluster: nothing tells a part of
    them from the rest. Cost: about n^2 d. Raises ThresholdError for numbers that are not finite.
    """
    import hdbscan

    min_size = max(min_size, 2)
    if len(vectors) < min_size:
        return []
    units = as_units(vectors)
    labels = hdbscan.HDBSCAN(
        min_cluster_size=min_size,
        min_samples=min(min_size, len(units) - 1),
        # Leaves of the tree: the most alike. Its default takes large mixed clusters before small ones.
        cluster_selection_method="leaf",
        approx_min_span_tree=False,
        core_dist_n_jobs=1,
    ).fit_predict(units)
    members_of = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    made = [_around_medoid(units, members) for members in members_of]
    return sorted(made, key=lambda each: (-len(each.members), min(each.members)))


def _around_medoid(units: Vectors, members: NDArray[np.intp]) -> Community:
    inside = units[members].astype(np.float64)
    centre = int(np.argmax(inside @ inside.sum(axis=0)))
    cosines = np.minimum(inside @ inside[centre], 1.0)
    cosines[centre] = 1.0
    order = np.lexsort((members, -cosines, np.arange(len(members)) != centre))
    return Community(
        int(members[centre]), tuple(members[order].tolist()), tuple(cosines[order].tolist())
    )
