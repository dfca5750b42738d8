"""Mean shift over few clusters: interval, p, smallest detectable shift, number of clusters needed.

Each of C clusters counts once, by the mean d_c of its shifts; d is the mean of all d_c. Interval and p
come from one test (`intervals.py`): p is below 0.05 exactly if the 95 % interval excludes 0. The
smallest true shift that is found with a given power is

    detectable = q SE + t_{power, C - 1} SE,    SE^2 = sum_c (d_c - d)^2 / (C (C - 1))

where q SE is how far the longer side of the interval of level 1 - alpha reaches. If all clusters have
the same shift, SE is 0, and q SE is how far the interval reaches without any shift. The number of
clusters needed is the smallest for which `detectable` is at most the least shift, both for normal
shifts of an expected deviation (`power.py`) and for clusters without any shift. Source: Bloom (1995),
Minimum Detectable Effects; figures: decision 64.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import cache

import numpy as np

from methods.evaluation.statistics.bootstrap import Clusters, ClusterTotals, Floats, cluster_totals
from methods.evaluation.statistics.intervals import (
    ROUNDING,
    difference_bounds,
    difference_estimates,
    p_values,
)
from methods.evaluation.statistics.power import factor


@dataclass(frozen=True)
class MeanShift:
    """The mean of the clusters' mean shifts; one cluster alone has no interval, p or `detectable`."""

    shift: float
    ci_low: float | None
    ci_high: float | None
    p: float | None
    detectable: float | None
    n_clusters: int


def mean_shift(
    shifts: Floats, clusters: Clusters, *, span: float, power: float, alpha: float
) -> MeanShift:
    """Estimate the mean shift of units over clusters, each cluster with equal weight.

    Args:
        shifts: The shift of each unit, at least one.
        clusters: The cluster of each unit.
        span: The largest possible shift.
        power: The power by which the smallest detectable shift is computed.
        alpha: The level of the test.

    Returns:
        The mean with its 95 % interval, p and the smallest detectable shift; only the mean for a single
        cluster.
    """
    totals = cluster_totals(shifts[None], clusters).of_cluster_means
    ends = np.array([span])
    (estimate,) = difference_estimates(totals, ends)
    assert estimate.value is not None
    n_clusters = totals.sums.shape[1]
    if n_clusters < 2:
        return MeanShift(estimate.value, None, None, None, None, n_clusters)
    (p,) = p_values(totals, ends)
    least = detectable(totals.sums[0], span=span, power=power, alpha=alpha)
    return MeanShift(estimate.value, estimate.ci_low, estimate.ci_high, float(p), least, n_clusters)


def detectable(means: Floats, *, span: float, power: float, alpha: float) -> float | None:
    """Compute the smallest true shift that clusters with such deviations show with the given power.

    Args:
        means: The mean shift of each of at least two clusters.
        span: The largest possible shift.
        power: The probability of showing the shift.
        alpha: The level of the two-sided test.

    Returns:
        The shift; None if it would be larger than `span`.
    """
    from scipy.special import stdtrit

    deviations = means - means.mean()
    error = deviations.std(ddof=1) / np.sqrt(len(deviations))
    if error < ROUNDING:
        deviations, error = np.zeros(len(means)), 0.0
    totals = ClusterTotals(deviations[None], np.ones((1, len(means))))
    reach = np.abs(difference_bounds(totals, np.array([span]), 1 - alpha)).max()
    least = float(reach + stdtrit(len(deviations) - 1, power) * error)
    return least if least <= span else None


@cache
def clusters_needed(
    least: float, deviation: float, *, span: float, power: float, alpha: float, most: int
) -> int:
    """Compute the fewest clusters, of one unit each, that show a shift of `least`.

    Args:
        least: The shift to be shown, above 0.
        deviation: The standard deviation of shifts.
        span: The largest possible shift.
        power: The probability of showing the shift.
        alpha: The level of the two-sided test.
        most: The largest number of clusters.

    Returns:
        Two or more; `most` if fewer do not show the shift.
    """

    def is_enough(n: int) -> bool:
        normal = factor(n, power, alpha) * deviation / n**0.5
        without_shift = detectable(np.zeros(n), span=span, power=power, alpha=alpha)
        return normal <= least and without_shift is not None and without_shift <= least

    return min(most, 2 + bisect_left(range(2, most), True, key=is_enough))
