"""Paired comparison of every two models: difference, interval, sign-flip test, Holm's adjustment.

Two models are compared on the units both have a value for, d_u = a_u - b_u, so that what makes a unit
hard for both cancels out. The interval is the cluster bootstrap's (resampling.py), which draws the same
clusters for both. The test flips the sign of whole clusters' differences:

    T(z) = | sum_c z_c t_c |,  z_c in {-1, +1},   t_c = sum of cluster c's differences (micro mean)
                                                        or their mean (macro mean)
    p = share of all z with T(z) >= T(1)               12 clusters or fewer: every z
    p = (1 + #{drawn z with T(z) >= T(1)}) / (1 + n)   more: n drawn z

It assumes that a cluster's difference would be as likely with the other sign if the models were equal,
and is exact then. With C clusters p is never below 2 / 2^C: five clusters cannot give p < 0.05.
Sources: Fisher (1935), The Design of Experiments, section 21; Phipson and Smyth (2010), Permutation
p-values should never be zero (for the 1 + ...); Holm (1979), A simple sequentially rejective multiple
test procedure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from methods.evaluation.statistics.estimates import Aggregation, Estimate
from methods.evaluation.statistics.resampling import (
    N_RESAMPLES,
    Clusters,
    ClusterTotals,
    Floats,
    bootstrap_means,
    chunk_sizes,
    cluster_totals,
    paired_totals,
    percentile_estimates,
)

MOST_ENUMERATED = 12
"""With so many clusters or fewer all signs are tried: 4,096 at most."""
NO_COMMON_UNITS = "No unit has a value of both models."
ONE_CLUSTER = "All common units are of one cluster: there is nothing to resample."


@dataclass(frozen=True)
class Comparison:
    """Two models, by their rows in `values`: mean of first - second on common units, what it is worth.

    `p_adjusted` is Holm's over all pairs compared together. `reason` says why anything is None.
    """

    first: int
    second: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_adjusted: float | None
    n_units: int
    n_clusters: int
    reason: str | None = None


def compare_pairs(
    values: Floats,
    clusters: Clusters,
    aggregation: Aggregation,
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> list[Comparison]:
    """Every pair of models compared, in the order of `itertools.combinations`.

    `values` is models x units with NaN where a model has no value, `clusters` units. `n_resamples` is
    the number of bootstrap resamples and of drawn signs.
    """
    pairs, counted = paired_totals(values, clusters)
    return _compared(pairs, counted, aggregation, seed=seed, n_resamples=n_resamples)


def compare_differences(
    differences: Floats, clusters: Clusters, *, seed: int, n_resamples: int = N_RESAMPLES
) -> list[Comparison]:
    """Each row of differences compared with 0; `first` and `second` are the row.

    `differences` is rows x units with NaN where a unit has none, `clusters` units. All rows share their
    draws. `p_adjusted` is Holm's over all rows.
    """
    rows = [(row, row) for row in range(len(differences))]
    counted = cluster_totals(differences, clusters)
    return _compared(rows, counted, "micro", seed=seed, n_resamples=n_resamples)


def _compared(
    pairs: Sequence[tuple[int, int]],
    counted: ClusterTotals,
    aggregation: Aggregation,
    *,
    seed: int,
    n_resamples: int,
) -> list[Comparison]:
    """A comparison for each row of the totals of differences."""
    totals = counted.by(aggregation)
    if totals.sums.size:
        resampled = bootstrap_means(totals, seed=seed, n_resamples=n_resamples)
        estimates = percentile_estimates(totals.means, resampled, totals.n_clusters)
    else:
        estimates = [Estimate(None, None, None) for _ in pairs]
    p_values = sign_flip_p_values(totals, seed=seed, n_flips=n_resamples)
    return [
        Comparison(
            first,
            second,
            estimate.value,
            estimate.ci_low,
            estimate.ci_high,
            p_value,
            p_adjusted,
            int(n_units),
            int(n_clusters),
            {0: NO_COMMON_UNITS, 1: ONE_CLUSTER}.get(int(n_clusters)),
        )
        for (first, second), estimate, p_value, p_adjusted, n_units, n_clusters in zip(
            pairs,
            estimates,
            p_values,
            holm(p_values),
            counted.sizes.sum(axis=1),
            totals.n_clusters,
            strict=True,
        )
    ]


def sign_flip_p_values(totals: ClusterTotals, *, seed: int, n_flips: int) -> list[float | None]:
    """Two-sided p of each row of differences having the mean 0; None for a row without values."""
    n_clusters = totals.n_clusters
    p_values: list[float | None] = [None] * len(n_clusters)
    for row in np.flatnonzero((n_clusters > 0) & (n_clusters <= MOST_ENUMERATED)):
        present = totals.sums[row, totals.sizes[row] > 0]
        p_values[row] = _as_extreme(present[None], all_signs(len(present)))[0] / 2 ** len(present)
    drawn = np.flatnonzero(n_clusters > MOST_ENUMERATED)
    if not len(drawn):
        return p_values
    sums = totals.sums[drawn]
    # Not the stream that draws clusters.
    generator = np.random.default_rng([seed, 1])
    as_extreme = np.zeros(len(drawn))
    for _, number in chunk_sizes(n_flips, sums.shape[1]):
        signs = np.where(generator.integers(0, 2, size=(number, sums.shape[1])), 1.0, -1.0)
        as_extreme += _as_extreme(sums, signs)
    for row, count in zip(drawn, as_extreme, strict=True):
        p_values[row] = float((count + 1) / (n_flips + 1))
    return p_values


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjusted p-values in the order given; None stays None and is not counted as a test.

    With p_(1) <= ... <= p_(m): adjusted p_(i) = max over j <= i of min(1, (m - j + 1) p_(j)).
    """
    adjusted: list[float | None] = [None] * len(p_values)
    given = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    largest = 0.0
    for done, (p, place) in enumerate(given):
        largest = max(largest, min(1.0, (len(given) - done) * p))
        adjusted[place] = largest
    return adjusted


def all_signs(n: int) -> Floats:
    """Every row of n signs: 2^n x n."""
    return np.where((np.arange(2**n)[:, None] >> np.arange(n)) & 1, 1.0, -1.0)


def _as_extreme(sums: Floats, signs: Floats) -> Floats:
    """For each row of `sums` (rows x clusters), how many rows of `signs` give at least its T."""
    # Sums of the same numbers in another order differ in their last digits.
    rounding = 1e-9 * np.abs(sums).sum(axis=1, keepdims=True)
    observed = np.abs(sums.sum(axis=1, keepdims=True))
    return (np.abs(sums @ signs.T) >= observed - rounding).sum(axis=1).astype(float)
