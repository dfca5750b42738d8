"""Weighted sums of means over the same clusters, and the influence of each cluster on them.

    theta = sum_k w_k theta_k,    theta_k = sum_c t_ck / sum_c n_ck

Here t_ck and n_ck are the sum and the number of units of score k in cluster c. A mean of several
scores, or the difference of two, is such a sum; a score may lack units that another one has. As in
`intervals.py`, C clusters are each represented by the statistic plus C times its derivative by the
cluster's weight, and count by their share of the units, averaged over the scores:

    t_c = C ( theta h_c + sum_k w_k (t_ck - theta_k n_ck) / N_k ),    n_c = C h_c
    h_c = sum_k |w_k| n_ck / N_k / sum_k |w_k|,                       N_k = sum_c n_ck

If all scores have the same units, the weighted sums of each cluster's totals are used directly.
"""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from methods.evaluation.statistics.bootstrap import ClusterTotals, Floats, ratio

T = TypeVar("T", float, Floats)


def weighted_sum(weights: Sequence[float], totals: Sequence[ClusterTotals]) -> ClusterTotals:
    """Combine totals, so that their means are the weighted sums of the means of `totals`, row by row.

    Args:
        weights: The weight of each of the totals.
        totals: Totals of the same rows and clusters (rows x clusters each).

    Returns:
        Rows x clusters. A row without a value in one of the totals has none.
    """
    if len(totals) == 1 and weights[0] == 1:
        return totals[0]
    first, *others = totals
    sums = weighted_total(weights, [of.sums for of in totals])
    sizes = first.sizes.copy()
    unlike = np.flatnonzero(
        np.any([(of.sizes != first.sizes).any(axis=1) for of in others], axis=0)
        if others
        else np.zeros(len(sizes), dtype=bool)
    )
    if len(unlike):
        some = [ClusterTotals(of.sums[unlike], of.sizes[unlike]) for of in totals]
        sums[unlike], sizes[unlike] = _of_unlike(np.asarray(weights), some)
    return ClusterTotals(sums, sizes)


def weighted_total(weights: Sequence[float], values: Sequence[T]) -> T:
    """Sum values times weights.

    Equal values with weights that sum to 1 give exactly the value: the smallest weight is factored out,
    since three times a third is not always one.

    Args:
        weights: The weight of each value, at least one.
        values: Numbers or arrays of one shape.

    Returns:
        The weighted sum, of the type of the values.
    """
    smallest = min(map(abs, weights))
    parts = [weight / smallest * value for weight, value in zip(weights, values, strict=True)]
    total: T = sum(parts[1:], parts[0]) * smallest
    return total


def _of_unlike(weights: Floats, totals: Sequence[ClusterTotals]) -> tuple[Floats, Floats]:
    """Compute sums and sizes of rows whose totals have different units."""
    means = np.stack([of.means for of in totals])
    theta = weights @ means
    has_all = ~np.isnan(theta)
    influences = np.zeros(totals[0].sums.shape)
    shares = np.zeros(influences.shape)
    for weight, mean, total in zip(weights, means, totals, strict=True):
        n = total.sizes.sum(axis=1)[:, None]
        influences += weight * ratio(total.sums - mean[:, None] * total.sizes, n)
        shares += abs(weight) / np.abs(weights).sum() * ratio(total.sizes, n)
    n_clusters = (shares > 0).sum(axis=1)[:, None]
    sums = n_clusters * (theta[:, None] * shares + influences)
    return (
        np.where(has_all[:, None], sums, 0.0),
        np.where(has_all[:, None], n_clusters * shares, 0.0),
    )
