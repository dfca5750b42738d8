"""Why an entry sits where it does, in numbers: how near its centre is, or the nearest of the others.

What belongs here: similarities of entries that have their place. Who has which says `placement.py`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.extension import Clustering, Communities
from methods.clustering.neighbours import Vectors
from methods.clustering.placement import Entries, Labels, by_label, by_preference
from methods.clustering.reach import Rows, nearest, similarity


@dataclass(frozen=True)
class Explanation:
    """Of n entries in one pass: cosines to the centre of the community each is in, NaN if in none.

    `cosine` is that of the space the pass compares in, `other_cosine` that of the other one. For an
    entry that is in none, `nearest` is the number of the community it is nearest to (-1: there is
    none), and `nearest_cosine` how near.
    """

    cosine: NDArray[np.float64]
    other_cosine: NDArray[np.float64]
    nearest: Labels
    nearest_cosine: NDArray[np.float64]


def explain_groups(entries: Entries, clustering: Clustering) -> Explanation:
    """Groups are compared by category."""
    groups = clustering.groups
    cosine = _to_centre(entries.categories, groups.categories, groups)
    other = _to_centre(entries.captions, groups.captions, groups)
    made = _Nearest(entries.categories, groups.categories)
    left = np.flatnonzero(groups.level.community < 0)
    made.look(left, by_preference(groups.ids, groups.sizes))
    return Explanation(cosine, other, made.number, made.cosine)


def explain_clusters(entries: Entries, clustering: Clustering) -> Explanation:
    """Clusters are compared by caption, and an entry that is in none with those of its group."""
    clusters, groups = clustering.clusters, clustering.groups
    cosine = _to_centre(entries.captions, clusters.captions, clusters)
    other = _to_centre(entries.categories, clusters.categories, clusters)
    made = _Nearest(entries.captions, clusters.captions)
    left = np.flatnonzero(clusters.level.community < 0)
    inside = by_label(by_preference(clusters.ids, clusters.sizes), clusters.parents)
    for group, rows in by_label(left, groups.level.community).items():
        if group in inside:
            made.look(rows, inside[group])
    return Explanation(cosine, other, made.number, made.cosine)


def _to_centre(vectors: Vectors, centres: Vectors, communities: Communities) -> NDArray[np.float64]:
    rows = np.flatnonzero(communities.level.community >= 0)
    cosine = np.full(len(vectors), np.nan)
    cosine[rows] = similarity(vectors, rows, centres, communities.level.community[rows])
    return cosine


class _Nearest:
    """The nearest centre of those entries that were looked at."""

    def __init__(self, vectors: Vectors, centres: Vectors):
        self.vectors, self.centres = vectors, centres
        self.number = np.full(len(vectors), -1)
        self.cosine = np.full(len(vectors), np.nan)

    def look(self, rows: Rows, numbers: Labels) -> None:
        if len(numbers):
            place, self.cosine[rows] = nearest(self.vectors, rows, self.centres[numbers])
            self.number[rows] = numbers[place]
