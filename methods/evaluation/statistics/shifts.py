"""A mean shift over few clusters: its interval and p, what could have been found, how many to ask.

Each cluster counts once, by the mean of its shifts. Interval and p are of one method (`intervals.py`),
so that p is below 0.05 exactly where the 95 % interval leaves out 0. The smallest true shift that is
found with a given power is

    detectable = d* + t_{power, C - 1} SE,    SE^2 = sum_c (d_c - d)^2 / (C (C - 1))

where d* is the least shift that the same deviations d_c - d show: moved to it, they have p = alpha.
Where all clusters have the same shift it is no less than what the interval of no shift leaves open,
and there is none where so few clusters cannot have p = alpha. How many clusters are needed is the
same asked of normal scores of an expected deviation, and of clusters that have no shift at all: their
interval has to be within the least shift, too. Source of the sum of two quantiles: Bloom (1995),
Minimum Detectable Effects; figures: decision 64.
"""

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from methods.evaluation.statistics.intervals import ROUNDING, difference_estimates, p_values
from methods.evaluation.statistics.resampling import (
    Clusters,
    ClusterTotals,
    Floats,
    cluster_totals,
)

_STEPS, _ROUNDS = 17, 3
"""d* is looked for on a grid, then on a grid between two of its points, and so on."""


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
    """The mean shift of some units, at least one; `span` is how large a shift can be."""
    totals = cluster_totals(shifts[None], clusters).by("macro")
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
    """The smallest true shift that clusters of such deviations show in the share `power` of cases.

    None where none would be found: there are too few clusters, or it would be larger than `span`.
    """
    from scipy.special import stdtrit

    off = means - means.mean()
    error = off.std(ddof=1) / np.sqrt(len(off))
    least = max(_critical(off, span, alpha), _critical(-off, span, alpha))
    if error < ROUNDING:
        # Nothing is known of how they differ; the interval of no shift says what may be.
        (around,) = difference_estimates(_totals(np.zeros((1, len(off)))), np.array([span]))
        assert around.ci_high is not None
        least = max(least, around.ci_high)
    least += float(stdtrit(len(off) - 1, power)) * error
    return float(least) if least <= span else None


@cache
def clusters_needed(
    least: float, deviation: float, *, span: float, power: float, alpha: float, most: int
) -> int:
    """The fewest clusters, one unit each, that show a shift of `least`; `most` where these do not.

    `deviation` is the standard deviation of shifts. Fewer than are returned may seem to do, too,
    where the numbers of clusters in between do not.
    """

    def enough(n: int) -> bool:
        normal = NormalDist()
        scores = np.array([normal.inv_cdf((rank + 0.5) / n) for rank in range(n)])
        scores *= deviation / scores.std(ddof=1)
        found = [
            detectable(means, span=span, power=power, alpha=alpha)
            for means in (scores, np.zeros(n))
        ]
        return all(shift is not None and shift <= least for shift in found)

    low, high = 1, min(8, most)
    while high < most and not enough(high):
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _critical(off: Floats, span: float, alpha: float) -> float:
    """The least shift at which the deviations have p = alpha; infinite where none up to `span` has."""
    low, high = 0.0, span
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _STEPS)
        p = p_values(_totals(off[None] + grid[:, None]), np.full(_STEPS, span))
        (found,) = np.nonzero(p <= alpha)
        if not len(found):
            return np.inf
        first = int(found[0])
        low, high = float(grid[max(0, first - 1)]), float(grid[first])
    return high


def _totals(means: Floats) -> ClusterTotals:
    return ClusterTotals(means, np.ones_like(means))
