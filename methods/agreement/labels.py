"""Inter-annotator agreement on labels: raw, and corrected for chance (kappa, alpha).

Raw agreement and Krippendorff's alpha are also computed for scores.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from methods.agreement.rating_matrix import (
    NOBODY_TWICE,
    MeasureValue,
    Ratings,
    counts_of,
    paired_ratings,
    with_two_ratings,
)

Level = Literal["nominal", "ordinal"]


# --- Raw agreement -------------------------------------------------------------------------------


def raw_agreement(ratings: Ratings) -> MeasureValue:
    """Compute how often two people gave an item the same value, as a mean over items, 0 to 1.

        P = (1/N) sum_i [ sum_c n_ic (n_ic - 1) ] / [ n_i (n_i - 1) ]

    Of the n_i ratings of item i, n_ic have the value c; N is the number of items. With two raters it is
    the share of items on which they agree. It is not corrected for chance. Source: the observed
    agreement of Fleiss (1971), formula 3, with n_i instead of a fixed number of raters.
    """
    counts = counts_of(with_two_ratings(ratings))
    if not len(counts):
        return MeasureValue(None, NOBODY_TWICE)
    return MeasureValue(float(_agreeing(counts).mean()))


def raw_agreement_of_draws(
    ratings: Ratings, cluster_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Raw agreement (`raw_agreement`) of every bootstrap draw of clusters, computed at once.

    Args:
        ratings: Items x raters, NaN for no rating; every item has two ratings or more.
        cluster_of: The cluster of each item, numbered from 0.
        draws: Draws x clusters: the clusters that each draw has, with repetition.

    Returns:
        The agreement of each draw, 0 to 1.
    """
    n_clusters = int(cluster_of.max()) + 1
    sums = np.bincount(cluster_of, weights=_agreeing(counts_of(ratings)), minlength=n_clusters)
    sizes = np.bincount(cluster_of, minlength=n_clusters)
    return sums[draws].sum(axis=1) / sizes[draws].sum(axis=1)


def _agreeing(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Compute the share of agreeing pairs among the ratings of each item."""
    n_ratings = counts.sum(axis=1)
    return (counts * (counts - 1)).sum(axis=1) / (n_ratings * (n_ratings - 1))


# --- Cohen's kappa -------------------------------------------------------------------------------


def cohen_kappa(ratings: Ratings) -> MeasureValue:
    """Cohen's kappa: agreement of two raters beyond chance, over items that both rated.

        kappa = (p_o - p_e) / (1 - p_e),    p_e = sum_c p_ac p_bc

    p_o is the share of items with the same label, p_ac the share of label c among the labels of rater
    a. 1: they always agree; 0: no more than by chance. Source: Cohen (1960), A coefficient of agreement
    for nominal scales. The value is scikit-learn's. Raises ValueError unless there are two raters.
    """
    first, second = paired_ratings(ratings)
    if not len(first):
        return MeasureValue(None, NOBODY_TWICE)
    labels, codes = np.unique([first, second], return_inverse=True)
    # If both use only one label, kappa is 0/0; if one rater does, it is 0, however often they agree.
    if len(labels) == 1:
        return MeasureValue(None, "Both gave every item the same one label.")
    if min(len(np.unique(first)), len(np.unique(second))) == 1:
        return MeasureValue(None, "One of the two gave every item the same label.")
    from sklearn.metrics import cohen_kappa_score

    return MeasureValue(float(cohen_kappa_score(*codes.reshape(2, -1))))


def cohen_kappa_of_draws(
    ratings: Ratings, cluster_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Cohen's kappa of every bootstrap draw of clusters, computed at once.

    scikit-learn's function takes 1 to 3 ms a call, 1 to 3 s for a bootstrap of 1,000 draws. This
    function sums the confusion matrices of the drawn clusters and takes 0.1 s or less. A test compares
    it with scikit-learn.

    Args:
        ratings: Items x 2 raters, without NaN.
        cluster_of: The cluster of each item, numbered from 0.
        draws: Draws x clusters: the clusters that each draw has, with repetition.

    Returns:
        The kappa of each draw; NaN if it is not defined because a rater used one label only.
    """
    n_clusters = int(cluster_of.max()) + 1
    labels, codes = np.unique(ratings.T, return_inverse=True)
    first, second = codes.reshape(2, -1)
    # Confusion matrices add up: the matrix of a draw is the sum of those of its clusters.
    of_cluster = np.zeros((n_clusters, len(labels), len(labels)))
    np.add.at(of_cluster, (cluster_of, first, second), 1)
    times_drawn = np.zeros((len(draws), n_clusters))
    np.add.at(times_drawn, (np.arange(len(draws))[:, None], draws), 1)
    confusion = np.tensordot(times_drawn, of_cluster, axes=1)
    n_items = confusion.sum(axis=(1, 2))
    agreed = np.trace(confusion, axis1=1, axis2=2) / n_items
    expected = (confusion.sum(axis=1) * confusion.sum(axis=2)).sum(axis=1) / n_items**2
    kappas = np.full(len(draws), np.nan)
    varied = np.logical_and(*((confusion.sum(axis=side) > 0).sum(axis=1) > 1 for side in (1, 2)))
    return np.divide(agreed - expected, 1 - expected, out=kappas, where=varied)


# --- Of any number of raters ---------------------------------------------------------------------


def fleiss_kappa(ratings: Ratings) -> MeasureValue:
    """Fleiss' kappa: agreement of any number of raters beyond chance, over items rated twice or more.

        kappa = (P - P_e) / (1 - P_e),    P_e = sum_c p_c^2

    P is the raw agreement over items, p_c the share of value c among all ratings. Every item has the
    same number of ratings, which need not be by the same people. Source: Fleiss (1971), Measuring
    nominal scale agreement among many raters.
    """
    counts = counts_of(with_two_ratings(ratings))
    if not len(counts):
        return MeasureValue(None, NOBODY_TWICE)
    n_ratings = np.unique(counts.sum(axis=1))
    if len(n_ratings) > 1:
        few, many = n_ratings[0], n_ratings[-1]
        return MeasureValue(
            None, f"Items have {few} to {many} ratings each; it is defined for equally many."
        )
    shares = counts.sum(axis=0) / counts.sum()
    if len(shares) == 1:
        return MeasureValue(None, "Every item was given the same one label.")
    observed, expected = raw_agreement(ratings).value, float((shares**2).sum())
    assert observed is not None
    return MeasureValue((observed - expected) / (1 - expected))


def krippendorff_alpha(ratings: Ratings, level: Level) -> MeasureValue:
    """Krippendorff's alpha: agreement of any number of raters, with ratings missing anywhere.

        alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck
        o_ck  = sum_i n_ic (n_ik - [c = k]) / (n_i - 1)

    Of the n_i ratings of item i, n_ic have the value c; [c = k] is 1 if c = k, else 0; o is the
    coincidence matrix with margins n_c and total n. The difference d_ck of two values is, for labels
    (nominal), 1 unless c = k; for ranks (ordinal, c < k), (n_c/2 + n_(c+1) + ... + n_(k-1) + n_k/2)^2.
    Source: Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    Args:
        ratings: Items x raters, NaN for no rating.
        level: The level of measurement, which decides the difference d_ck.

    Returns:
        Alpha, at most 1; or None with the reason, if no item has two ratings or all ratings are the
        same.
    """
    counts = counts_of(with_two_ratings(ratings))
    if not len(counts):
        return MeasureValue(None, NOBODY_TWICE)
    if counts.shape[1] == 1:
        return MeasureValue(None, "Every rating is the same.")
    weights = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weights.T @ counts - np.diag(weights.sum(axis=0))
    margins = coincidences.sum(axis=1)
    difference = _DIFFERENCES[level](margins)
    observed = (coincidences * difference).sum()
    expected = (np.outer(margins, margins) * difference).sum()
    return MeasureValue(float(1 - (margins.sum() - 1) * observed / expected))


def _nominal(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 - np.eye(len(margins))


def _ordinal(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    # The middle of each value's ranks: the sum above is the distance between two middles.
    middles = np.cumsum(margins) - margins / 2
    return (middles[:, None] - middles[None, :]) ** 2


_DIFFERENCES = {"nominal": _nominal, "ordinal": _ordinal}
