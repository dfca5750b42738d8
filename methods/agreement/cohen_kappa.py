"""Cohen's kappa: agreement of two raters on labels, beyond what chance alone would give.

    kappa = (p_o - p_e) / (1 - p_e),    p_e = sum_c p_ac p_bc

p_o is the share of items with the same label, p_ac how often rater a gave label c. 1: they always
agree; 0: no more than by chance. Source: Cohen (1960), A coefficient of agreement for nominal scales.

The value is scikit-learn's. One call of its function takes 1 to 3 ms, so that a bootstrap of 1,000
draws took 1 to 3 s. The kappas of all draws are therefore computed at once from their confusion
matrices, in 0.1 s or less; a test compares them with scikit-learn's.
"""

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, paired_ratings


def cohen_kappa(ratings: Ratings) -> Measured:
    """Kappa of two raters over the items both rated. Raises ValueError unless there are two."""
    first, second = paired_ratings(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    labels, codes = np.unique([first, second], return_inverse=True)
    # With one label chance alone always agrees, so that kappa is 0/0.
    if len(labels) == 1:
        return Measured(None, "Both gave every item the same one label.")
    from sklearn.metrics import cohen_kappa_score

    return Measured(float(cohen_kappa_score(*codes.reshape(2, -1))))


def cohen_kappa_of_draws(
    ratings: Ratings, cluster_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Kappa of every bootstrap draw of clusters, NaN where it is not defined.

    `ratings` are of two raters, without NaN; `cluster_of` has the cluster of each item, counted from 0;
    each row of `draws` (draws x clusters) has the clusters that are drawn, with repetition.
    """
    n_clusters = int(cluster_of.max()) + 1
    labels, codes = np.unique(ratings.T, return_inverse=True)
    first, second = codes.reshape(2, -1)
    # Confusion matrices add up: that of a draw is the sum of those of its clusters.
    of_cluster = np.zeros((n_clusters, len(labels), len(labels)))
    np.add.at(of_cluster, (cluster_of, first, second), 1)
    times_drawn = np.zeros((len(draws), n_clusters))
    np.add.at(times_drawn, (np.arange(len(draws))[:, None], draws), 1)
    confusion = np.tensordot(times_drawn, of_cluster, axes=1)
    n_items = confusion.sum(axis=(1, 2))
    agreed = np.trace(confusion, axis1=1, axis2=2) / n_items
    expected = (confusion.sum(axis=1) * confusion.sum(axis=2)).sum(axis=1) / n_items**2
    kappas = np.full(len(draws), np.nan)
    return np.divide(agreed - expected, 1 - expected, out=kappas, where=expected < 1)
