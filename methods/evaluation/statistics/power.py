"""The minimum detectable effect: the smallest true difference of two models that a release will show.

    MDE = (q_{alpha}(C) + z_{power}) SE(difference),    2.96 SE for 110 clusters, alpha 0.05, power 80 %

SE is the cluster-robust standard error of the mean paired difference, with t_c the sum of cluster c's
differences, n_c their number, N = sum_c n_c, C clusters and the mean difference d:

    SE^2 = C / (C - 1)  sum_c (t_c - n_c d)^2 / N^2

(for the macro mean t_c is the cluster's mean difference and n_c = 1: the usual error of a mean). q is
how many standard errors an end of the test's interval (intervals.py) is from the mean where the
clusters' differences are the C quantiles of the normal distribution; it nears z_{1 - alpha/2} with C.
As SE falls with the root of C, a difference d is shown by the smallest C with

    (q(C) + z_{power}) SE_1 / sqrt(C) <= d,    SE_1 = SE sqrt(C observed)

Sources: Bloom (1995), Minimum Detectable Effects; Cameron and Miller (2015), A Practitioner's Guide to
Cluster-Robust Inference, II; Miller (2024), Adding Error Bars to Evals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import numpy as np

from methods.evaluation.statistics.comparisons import NO_COMMON_UNITS, ONE_CLUSTER
from methods.evaluation.statistics.estimates import Aggregation
from methods.evaluation.statistics.intervals import difference_bounds
from methods.evaluation.statistics.resampling import (
    Clusters,
    ClusterTotals,
    Floats,
    paired_totals,
)

LEAST_TESTED = 6
"""With fewer clusters p is above 2 / 2^5 = 0.0625."""
TOO_FEW = f"With fewer than {LEAST_TESTED} clusters no difference can be shown."
MOST_CLUSTERS = 10_000_000
LARGE = 2_000
"""From so many clusters on q is taken as that of so many."""


@dataclass(frozen=True)
class MinimumDetectableEffect:
    """Of two models, by their rows in `values`, in the units of the metric.

    `reason` says why there is no effect; fewer than two clusters have no standard error either.
    """

    first: int
    second: int
    standard_error: float | None
    effect: float | None
    n_clusters: int
    reason: str | None = None


def minimum_detectable_effects(
    values: Floats,
    clusters: Clusters,
    aggregation: Aggregation,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> list[MinimumDetectableEffect]:
    """That of every pair of models on their common units, in the order of `itertools.combinations`.

    `values` is models x units, NaN where a model has no value; `clusters` units. For one pair tested
    by itself, two-sided; with Holm's adjustment over m pairs the first one needs alpha / m.
    """
    pairs, counted = paired_totals(values, clusters)
    return effects_of(pairs, counted.by(aggregation), power=power, alpha=alpha)


def effects_of(
    pairs: Sequence[tuple[int, int]],
    totals: ClusterTotals,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> list[MinimumDetectableEffect]:
    """The same of pairs whose differences have these totals."""
    effects = []
    for (first, second), found, n_clusters in zip(
        pairs, standard_errors(totals).tolist(), totals.n_clusters.tolist(), strict=True
    ):
        reason = {0: NO_COMMON_UNITS, 1: ONE_CLUSTER}.get(n_clusters)
        reason = reason or (TOO_FEW if n_clusters < LEAST_TESTED else None)
        error = None if n_clusters < 2 else found
        effect = None if reason else float(factor(n_clusters, power, alpha) * found)
        effects.append(MinimumDetectableEffect(first, second, error, effect, n_clusters, reason))
    return effects


def standard_errors(totals: ClusterTotals) -> Floats:
    """The cluster-robust standard error of each row's mean; NaN with fewer than two clusters."""
    residuals = totals.sums - totals.sizes * totals.means[:, None]
    n_clusters = np.where(totals.n_clusters >= 2, totals.n_clusters, np.nan)
    variances = n_clusters / (n_clusters - 1) * (residuals**2).sum(axis=1)
    return np.sqrt(variances) / totals.sizes.sum(axis=1)


def factor(n_clusters: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest difference that is shown with this power, in standard errors."""
    return _critical(min(n_clusters, LARGE), alpha) + NormalDist().inv_cdf(power)


@cache
def _critical(n_clusters: int, alpha: float) -> float:
    normal = NormalDist()
    quantiles = [normal.inv_cdf((place + 0.5) / n_clusters) for place in range(n_clusters)]
    totals = ClusterTotals(np.array([quantiles]), np.ones((1, n_clusters)))
    (low, high), *_ = difference_bounds(totals, np.array([1e6]), 1 - alpha)
    return float((high - low) / 2 / standard_errors(totals)[0])


def clusters_needed(
    standard_error: float,
    n_clusters: int,
    difference: float,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> int | None:
    """How many clusters show a true difference with this power, from the error of so many.

    None where more than MOST_CLUSTERS would be needed. Raises ValueError for a difference that is not
    above 0.
    """
    if difference <= 0:
        raise ValueError("A difference to be shown is above 0.")
    of_one = standard_error * n_clusters**0.5

    def enough(number: int) -> bool:
        return factor(number, power, alpha) * of_one / number**0.5 <= difference

    if not enough(MOST_CLUSTERS):
        return None
    few, many = LEAST_TESTED - 1, LEAST_TESTED
    while not enough(many):
        few, many = many, 2 * many
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle) else (middle, many)
    return many
