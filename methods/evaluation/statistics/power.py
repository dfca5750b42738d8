"""The minimum detectable effect: the smallest true difference of two models that a release will show.

    MDE = (z_{1 - alpha/2} + z_{power}) SE(difference),    2.80 SE for alpha = 0.05 and a power of 80 %

SE is the cluster-robust standard error of the mean paired difference, with t_c the sum of cluster c's
differences, n_c their number, N = sum_c n_c, C clusters and the mean difference d:

    SE^2 = C / (C - 1)  sum_c (t_c - n_c d)^2 / N^2

(for the macro mean t_c is the cluster's mean difference and n_c = 1: the usual error of a mean). The
normal quantiles are too small for few clusters: below about 30 the true MDE is larger. Sources: Bloom
(1995), Minimum Detectable Effects; Cameron and Miller (2015), A Practitioner's Guide to Cluster-Robust
Inference, II; Miller (2024), Adding Error Bars to Evals (both for evaluations of models).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from methods.evaluation.statistics.comparisons import NO_COMMON_UNITS, ONE_CLUSTER
from methods.evaluation.statistics.estimates import Aggregation
from methods.evaluation.statistics.resampling import (
    Clusters,
    ClusterTotals,
    Floats,
    paired_totals,
)


@dataclass(frozen=True)
class MinimumDetectableEffect:
    """Of two models, by their rows in `values`, in the units of the metric.

    `reason` says why standard error and effect are None.
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
    normal = NormalDist()
    factor = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    effects = []
    for (first, second), error, n_clusters in zip(
        pairs, standard_errors(totals), totals.n_clusters.tolist(), strict=True
    ):
        reason = {0: NO_COMMON_UNITS, 1: ONE_CLUSTER}.get(n_clusters)
        error, effect = (None, None) if reason else (float(error), float(factor * error))
        effects.append(MinimumDetectableEffect(first, second, error, effect, n_clusters, reason))
    return effects


def standard_errors(totals: ClusterTotals) -> Floats:
    """The cluster-robust standard error of each row's mean; NaN with fewer than two clusters."""
    residuals = totals.sums - totals.sizes * totals.means[:, None]
    n_clusters = np.where(totals.n_clusters >= 2, totals.n_clusters, np.nan)
    variances = n_clusters / (n_clusters - 1) * (residuals**2).sum(axis=1)
    return np.sqrt(variances) / totals.sizes.sum(axis=1)
