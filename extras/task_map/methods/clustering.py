"""Hierarchical clustering of tasks by distance: clusters, a dendrogram and a map (MMIU, C.1 and C.2).

Average linkage: the distance of two clusters is the mean distance of their tasks. The paper names
neither its linkage nor how its 8 clusters were cut. Here the tree is cut where the mean silhouette is
largest (Rousseeuw 1987), or into a given number of clusters. The map is made by metric multidimensional
scaling: its distances are as close to the given ones as a plane allows, measured by `stress`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LINKAGE = "average"
MIN_TASKS = 3
"""The smallest number of tasks: two tasks have one distance, so there is nothing to cluster."""


@dataclass(frozen=True)
class TaskMap:
    """The n tasks in order of name, with their distances and clusters.

    Attributes:
        distances: The distances, shape (n, n).
        places: The positions on a plane, shape (n, 2), in the same unit.
        clusters: The cluster of each task, counted from 1 from the top of the dendrogram down.
    """

    tasks: tuple[str, ...]
    distances: Floats
    clusters: tuple[int, ...]
    places: Floats


def task_map(
    tasks: Sequence[str], distances: Floats, *, n_clusters: int | None = None, seed: int = 0
) -> TaskMap:
    """Make the map of at least three tasks.

    The order of the tasks does not matter.

    Args:
        tasks: The tasks.
        distances: Symmetric distances, n x n, 0 on the diagonal.
        n_clusters: The number of clusters to cut the tree into, fewer if distances are equal; None for
            the number with the largest mean silhouette.
        seed: The seed of the projection.
    """
    order = sorted(range(len(tasks)), key=lambda place: tasks[place])
    ordered = distances[np.ix_(order, order)]
    return TaskMap(
        tuple(tasks[place] for place in order),
        ordered,
        _clusters(ordered, n_clusters),
        _places(ordered, seed),
    )


def tree_of(distances: Floats) -> Floats:
    """Compute SciPy's linkage matrix: n - 1 merges, the nearest first."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    tree: Floats = linkage(squareform(distances, checks=False), LINKAGE)
    return tree


def leaves(distances: Floats) -> list[int]:
    """Order the tasks, given by their indexes, so that no two branches of the dendrogram cross."""
    from scipy.cluster.hierarchy import leaves_list

    return [int(place) for place in leaves_list(tree_of(distances))]


def stress(distances: Floats, places: Floats) -> float:
    """Compute Kruskal's stress-1: how far the distances on the plane are from the true ones.

    It is the root of the sum of squared differences over the sum of squared true distances.

    Args:
        distances: The true distances, n x n.
        places: The points on the plane, n x 2.

    Returns:
        The stress; 0 for a perfect plane.
    """
    from scipy.spatial.distance import pdist, squareform

    true_distances = squareform(distances, checks=False)
    total = float((true_distances**2).sum())
    return float(np.sqrt(((pdist(places) - true_distances) ** 2).sum() / total)) if total else 0.0


def _clusters(distances: Floats, n_clusters: int | None) -> tuple[int, ...]:
    numbers = [n_clusters] if n_clusters else range(2, len(distances))
    cuts = [_cut(distances, number) for number in numbers]
    # Of equally good cuts `max` takes the first, which has the fewest clusters.
    best = max(cuts, key=lambda cut: _silhouette(distances, cut))
    numbered: dict[int, int] = {}
    for place in leaves(distances):
        numbered.setdefault(int(best[place]), len(numbered) + 1)
    return tuple(numbered[int(cluster)] for cluster in best)


def _cut(distances: Floats, n_clusters: int) -> NDArray[np.int64]:
    from scipy.cluster.hierarchy import fcluster

    cut: NDArray[np.int64] = fcluster(tree_of(distances), n_clusters, "maxclust")
    return cut


def _silhouette(distances: Floats, cut: NDArray[np.int64]) -> float:
    """The mean silhouette; lower than all others if there is a single cluster, or one for each task."""
    from sklearn.metrics import silhouette_score

    if not 1 < len(set(cut.tolist())) < len(cut):
        return -2.0
    # Sums in another order differ in their last digits, which must not decide between equal cuts.
    return round(float(silhouette_score(distances, cut, metric="precomputed")), 9)


def _places(distances: Floats, seed: int) -> Floats:
    """Place tasks on a plane by metric multidimensional scaling, starting at the classical solution."""
    from sklearn.manifold import MDS
    from threadpoolctl import threadpool_limits

    if not distances.any():
        return np.zeros((len(distances), 2))
    scaling = MDS(2, metric="precomputed", init="classical_mds", n_init=1, random_state=seed)
    # One thread: with several, the order of additions and so the result would vary.
    with threadpool_limits(limits=1):
        places: Floats = scaling.fit_transform(distances, init=_classical_places(distances))
    return places


def _classical_places(distances: Floats) -> Floats:
    """Classical scaling to a plane (Torgerson 1952): the eigenvectors of the two largest eigenvalues of
    the doubly centred squared distances, each times the root of its eigenvalue.

    Correlation distances may violate the triangle inequality, so an eigenvalue may be negative. Its
    absolute value is used: from a flat start the map would stay flat. scikit-learn's own start is NaN
    in this case.
    """
    from scipy.linalg import eigh
    from sklearn.utils.extmath import svd_flip

    squares = distances**2
    centred = squares - squares.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    values, vectors = eigh(-0.5 * centred)
    axes, _ = svd_flip(vectors[:, ::-1][:, :2], None)
    places: Floats = np.sqrt(np.abs(values[::-1][:2])) * axes
    return places
