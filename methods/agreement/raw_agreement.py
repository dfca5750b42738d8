"""Raw agreement: how often two people who rated the same item gave it the same value.

    P = (1/N) sum_i [ sum_c n_ic (n_ic - 1) ] / [ n_i (n_i - 1) ]

n_ic of the n_i ratings of item i are c. With two raters it is the share of items on which they agree.
It is not corrected for chance. Source: the observed agreement of Fleiss (1971), formula 3, with n_i
instead of a fixed number of raters.
"""

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, counts_of, rated_twice


def raw_agreement(ratings: Ratings) -> Measured:
    """Share of agreeing pairs of ratings, the mean over items, in 0..1."""
    counts = counts_of(rated_twice(ratings))
    if not len(counts):
        return Measured(None, NOBODY_TWICE)
    return Measured(float(_agreeing(counts).mean()))


def raw_agreement_of_draws(
    ratings: Ratings, cluster_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The raw agreement of every bootstrap draw of clusters, all at once.

    `ratings` has items with two ratings or more; `cluster_of` the cluster of each, counted from 0; each
    row of `draws` (draws x clusters) the clusters that are drawn, with repetition.
    """
    n_clusters = int(cluster_of.max()) + 1
    sums = np.bincount(cluster_of, weights=_agreeing(counts_of(ratings)), minlength=n_clusters)
    sizes = np.bincount(cluster_of, minlength=n_clusters)
    return sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)


def _agreeing(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of agreeing pairs of ratings of each item."""
    n_ratings = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / (n_ratings * (n_ratings - 1))
