"""Similarity of each entry to its centre, or to the nearest centre if it is in no community."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from methods.clustering.incremental import Clustering, Communities
from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import Rows, nearest_centre, paired_cosines
from methods.clustering.two_passes import Entries, Labels, rows_by_label, rows_by_language


@dataclass(frozen=True)
class CentreSimilarity:
    """Cosines of n entries to centres in one pass; NaN if there is no such centre.

    Attributes:
        cosine: To the centre of the entry's community in the compared space (category or caption).
        other_cosine: The same in the other space.
        nearest: For an entry in no community, the index of the nearest community; -1 if there is none.
        nearest_cosine: The cosine to the centre of this nearest community.
    """

    cosine: NDArray[np.float64]
    other_cosine: NDArray[np.float64]
    nearest: Labels
    nearest_cosine: NDArray[np.float64]


def similarity_to_groups(entries: Entries, clustering: Clustering) -> CentreSimilarity:
    """Compute the cosine of entries to the centres of groups, which are compared by category.

    Args:
        entries: The entries with their vectors.
        clustering: The groups and clusters of these entries.

    Returns:
        The cosine to the own centre by category and by caption; for entries without a group the nearest
        group.
    """
    groups = clustering.groups
    cosine = _to_own_centre(entries.categories, groups.categories, groups)
    other = _to_own_centre(entries.captions, groups.captions, groups)
    search = _NearestCentres(entries.categories, groups.categories)
    unassigned = np.flatnonzero(groups.membership.community < 0)
    for language, rows in rows_by_language(unassigned, entries.languages).items():
        search.run(rows, np.flatnonzero(groups.languages == language))
    return CentreSimilarity(cosine, other, search.number, search.cosine)


def similarity_to_clusters(entries: Entries, clustering: Clustering) -> CentreSimilarity:
    """Compute the cosine of entries to the centres of clusters, which are compared by caption.

    Args:
        entries: The entries with their vectors.
        clustering: The groups and clusters of these entries.

    Returns:
        The cosine to the own centre by caption and by category; for entries of a group without a
        cluster the nearest cluster of their group.
    """
    clusters, groups = clustering.clusters, clustering.groups
    cosine = _to_own_centre(entries.captions, clusters.captions, clusters)
    other = _to_own_centre(entries.categories, clusters.categories, clusters)
    search = _NearestCentres(entries.captions, clusters.captions)
    unassigned = np.flatnonzero(clusters.membership.community < 0)
    clusters_of = rows_by_label(np.arange(len(clusters.ids)), clusters.parents)
    for group, rows in rows_by_label(unassigned, groups.membership.community).items():
        if group in clusters_of:
            search.run(rows, clusters_of[group])
    return CentreSimilarity(cosine, other, search.number, search.cosine)


def _to_own_centre(
    vectors: Vectors, centres: Vectors, communities: Communities
) -> NDArray[np.float64]:
    rows = np.flatnonzero(communities.membership.community >= 0)
    cosine = np.full(len(vectors), np.nan)
    cosine[rows] = paired_cosines(vectors, rows, centres, communities.membership.community[rows])
    return cosine


class _NearestCentres:
    """The nearest centre and its cosine for the rows searched so far; -1 and NaN for the others."""

    def __init__(self, vectors: Vectors, centres: Vectors):
        self.vectors, self.centres = vectors, centres
        self.number = np.full(len(vectors), -1)
        self.cosine = np.full(len(vectors), np.nan)

    def run(self, rows: Rows, numbers: Labels) -> None:
        """Search among the communities `numbers`; if several are equally near, the first is taken."""
        if len(numbers):
            index, self.cosine[rows] = nearest_centre(self.vectors, rows, self.centres[numbers])
            self.number[rows] = numbers[index]
