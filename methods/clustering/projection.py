"""Projection of vectors to a plane by PCA and t-SNE, for the map of entries."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Vectors
from methods.ids import content_id

N_COMPONENTS = 50
"""Dimensions that PCA keeps for t-SNE (van der Maaten and Hinton 2008, 4.2)."""
PERPLEXITY = 30.0
MIN_POINTS = 10
"""With fewer points t-SNE finds no neighbourhoods, and the first two axes of PCA are used."""


def sample_for_map(entries: Iterable[tuple[str, bool]], max_points: int, seed: int) -> list[str]:
    """Choose the entries that a map shows.

    Clustered entries come first. Within each kind the order is a hash of seed and id, so adding or
    removing an entry does not reorder the others.

    Args:
        entries: The id of each entry, and whether it is in a cluster.
        max_points: The largest number of entries.
        seed: The seed of the order.

    Returns:
        The ids in the order of the map.
    """
    ordered = sorted(entries, key=lambda entry: (not entry[1], content_id(seed, entry[0])))
    return [entry_id for entry_id, _ in ordered[:max_points]]


def project(vectors: Vectors, seed: int) -> NDArray[np.float32]:
    """Project vectors onto a plane: PCA to 50 dimensions, then t-SNE initialized by PCA.

    The result is deterministic for the same vectors and seed. The cost is n log n; 10,000 points take
    about a minute.

    Args:
        vectors: Vectors, shape (n, d).
        seed: The seed of t-SNE.

    Returns:
        Coordinates, shape (n, 2).
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n = len(vectors)
    if n < 2 or not np.ptp(vectors, axis=0).any():
        return np.zeros((n, 2), dtype=np.float32)
    # One thread: with several, the order of additions and so the result would vary.
    with threadpool_limits(limits=1):
        n_components = min(N_COMPONENTS, *vectors.shape)
        reduced = PCA(n_components, svd_solver="full", random_state=seed).fit_transform(vectors)
        if n < MIN_POINTS:
            plane = reduced[:, :2]
        else:
            perplexity = min(PERPLEXITY, (n - 1) / 3)
            plane = TSNE(2, perplexity=perplexity, init="pca", random_state=seed).fit_transform(
                reduced
            )
    # PCA may return a single axis (two vectors, or one dimension).
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1]))).astype(np.float32)
