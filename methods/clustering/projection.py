"""Vectors laid out on a plane, for people to look at.

What belongs here: which entries are drawn when there are too many, and where each one goes. A map keeps
who is near whom, and little else: distances between far points and the axes mean nothing.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from methods.clustering.neighbours import Vectors
from methods.ids import content_id

N_COMPONENTS = 50
"""What PCA keeps for t-SNE, as its authors advise (van der Maaten and Hinton 2008, 4.2)."""
PERPLEXITY = 30.0
MIN_POINTS = 10
"""Fewer points than this have no neighbourhoods: they are laid out along their two main axes."""


def drawn(entries: Iterable[tuple[str, bool]], max_points: int, seed: int) -> list[str]:
    """At most `max_points` ids of `entries` (id, whether it is in a cluster), in drawing order.

    Clustered ones come first, each kind in an order that follows from seed and id alone: when an entry
    comes or goes, the others keep their order.
    """
    ordered = sorted(entries, key=lambda entry: (not entry[1], content_id(seed, entry[0])))
    return [entry_id for entry_id, _ in ordered[:max_points]]


def project(vectors: Vectors, seed: int) -> NDArray[np.float32]:
    """Places on a plane, shape (n, 2): PCA to 50 dimensions, then t-SNE that starts from PCA's plane.

    The same vectors and seed give the same places. Cost: n log n; 10,000 points take about a minute.
    """
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    n = len(vectors)
    if n < 2 or not np.ptp(vectors, axis=0).any():
        return np.zeros((n, 2), dtype=np.float32)
    # One thread: several would add up in an order of their own, and other places come out.
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
    # Vectors that lie on a line have one axis only.
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1]))).astype(np.float32)
