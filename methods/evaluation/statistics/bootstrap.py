"""The cluster bootstrap: means of many models and of their paired differences, with 95 % intervals.

A resample draws as many clusters as there are, with replacement, and takes all units of each. A mean is
a ratio of two sums over clusters, so a resample needs only how often each cluster was drawn, w_c:

    micro mean = sum_c w_c s_c / sum_c w_c n_c             s_c: sum, n_c: number of the cluster's values
    macro mean = sum_c w_c (s_c / n_c) / sum_c w_c [n_c > 0]

and all means of all resamples are one product of matrices. All rows (models, or differences of two
models) share the same draws. The interval lies between the 2.5th and 97.5th percentile of the resampled
means. Sources: Davison and Hinkley (1997), Bootstrap Methods and their Application, 3.8 (clusters) and
5.3 (percentiles); Miller (2024), Adding Error Bars to Evals (clustered questions, paired differences).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.estimates import PERCENTILES, Estimate

N_RESAMPLES = 10_000
CELLS = 2**20
"""Limit of the draws, resamples x clusters, in memory at once: 8 MiB for each array of them."""
DRAWN_AT_ONCE = 2**17
"""Limit of the draws that are made and counted at once: 1 MiB, which the cache of a core holds."""

Floats = NDArray[np.float64]
Clusters = NDArray[np.int64]


@dataclass(frozen=True)
class ClusterTotals:
    """Sums and sizes, shape (rows, clusters). A row's mean is its total sum over its total size."""

    sums: Floats
    sizes: Floats

    @property
    def of_cluster_means(self) -> "ClusterTotals":
        """The totals of a macro mean: each cluster's own mean, with equal weights."""
        present = self.sizes > 0
        return ClusterTotals(self.sums / np.where(present, self.sizes, 1), present.astype(float))

    @property
    def means(self) -> Floats:
        """The mean of each row; NaN if a row has no value."""
        return ratio(self.sums.sum(axis=1), self.sizes.sum(axis=1))

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """The number of clusters in which each row has a value."""
        return (self.sizes > 0).sum(axis=1)


class PairTotals(NamedTuple):
    """Totals of differences; each of `pairs` has two models, by their rows in `values`."""

    pairs: Sequence[tuple[int, int]]
    totals: ClusterTotals


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; NaN if the denominator is 0.

    Args:
        numerator: An array.
        denominator: An array that can be broadcast to the same shape.

    Returns:
        The quotients.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, np.nan, numerator / denominator)


def cluster_totals(values: Floats, clusters: Clusters) -> ClusterTotals:
    """Sum and count the values of each row in each cluster.

    Args:
        values: Rows x units, NaN for no value.
        clusters: The cluster of each unit.

    Returns:
        Sums and numbers, rows x clusters. Clusters are in the order of their labels, so that the order
        of units does not matter.
    """
    labels, starts = np.unique(np.sort(clusters), return_index=True)
    if not len(labels):
        return ClusterTotals(np.zeros((len(values), 0)), np.zeros((len(values), 0)))
    ordered = values[:, np.argsort(clusters, kind="stable")]
    missing = np.isnan(ordered)
    return ClusterTotals(
        np.add.reduceat(np.where(missing, 0.0, ordered), starts, axis=1),
        np.add.reduceat((~missing).astype(float), starts, axis=1),
    )


def paired_totals(values: Floats, clusters: Clusters) -> PairTotals:
    """Total the differences (first - second) of each pair of models on the units that both have.

    Args:
        values: Models x units, NaN if a model has no value.
        clusters: The cluster of each unit.

    Returns:
        The pairs in the order of `itertools.combinations`, and a row of totals for each.
    """
    pairs = list(combinations(range(len(values)), 2))
    # One model against the rest at a time: all pairs at once would be 105 rows for 15 models.
    parts = [
        cluster_totals(values[first : first + 1] - values[first + 1 :], clusters)
        for first in range(max(1, len(values)))
    ]
    sums = np.concatenate([part.sums for part in parts])
    return PairTotals(pairs, ClusterTotals(sums, np.concatenate([part.sizes for part in parts])))


def chunk_sizes(
    n_resamples: int, n_clusters: int, cells: int | None = None
) -> Iterator[tuple[int, int]]:
    """Split resamples into chunks, so that the memory they take is bounded.

    Args:
        n_resamples: The number of resamples.
        n_clusters: The number of clusters.
        cells: The largest number of resamples x clusters to hold at once; by default `CELLS`.

    Yields:
        The first resample and the number of resamples of each chunk.
    """
    step = max(1, (cells or CELLS) // max(1, n_clusters))
    for start in range(0, n_resamples, step):
        yield start, min(step, n_resamples - start)


def resampled_sums(sums: Floats, *, seed: int, n_resamples: int) -> Floats:
    """Sum the values of the drawn clusters in each bootstrap resample.

    The same seed, number of clusters and number of resamples give the same draws.

    Args:
        sums: Rows x clusters, at least one cluster.
        seed: The seed of the draws.
        n_resamples: The number of resamples.

    Returns:
        Rows x resamples.
    """
    resampled = np.empty((len(sums), n_resamples))
    for start, weights in drawn_weights(sums.shape[1], seed=seed, n_resamples=n_resamples):
        resampled[:, start : start + len(weights)] = sums @ weights.T
    return resampled


def drawn_weights(n_clusters: int, *, seed: int, n_resamples: int) -> Iterator[tuple[int, Floats]]:
    """Yield the first resample of each chunk, and its draws of each cluster: resamples x clusters."""
    generator = np.random.default_rng(seed)
    for start, number in chunk_sizes(n_resamples, n_clusters):
        weights = np.empty((number, n_clusters))
        for first, some in chunk_sizes(number, n_clusters, DRAWN_AT_ONCE):
            cells = generator.integers(0, n_clusters, size=(some, n_clusters))
            cells += np.arange(some)[:, None] * n_clusters
            counts = np.bincount(cells.ravel(), minlength=some * n_clusters)
            weights[first : first + some] = counts.reshape(some, n_clusters)
        yield start, weights


def bootstrap_means(totals: ClusterTotals, *, seed: int, n_resamples: int = N_RESAMPLES) -> Floats:
    """Compute the mean of each row in each bootstrap resample of clusters.

    Args:
        totals: Sums and numbers, rows x clusters.
        seed: The seed of the draws.
        n_resamples: The number of resamples.

    Returns:
        Rows x resamples; NaN if no drawn cluster has a value.
    """
    # Rows valued on the same units have the same sizes: these are summed once.
    sizes, size_of = np.unique(totals.sizes, axis=0, return_inverse=True)
    resampled = resampled_sums(
        np.concatenate([totals.sums, sizes]), seed=seed, n_resamples=n_resamples
    )
    n_rows = len(totals.sums)
    return ratio(resampled[:n_rows], resampled[n_rows:][size_of.reshape(-1)])


def percentile_estimates(
    values: Floats, resampled: Floats, n_clusters: NDArray[np.int64]
) -> list[Estimate]:
    """Make estimates with the 2.5 % and 97.5 % percentiles of the resampled values.

    A row with values in fewer than two clusters has no interval: resamples of a single cluster say
    nothing about others.

    Args:
        values: The value of each row; NaN for none.
        resampled: Rows x resamples, NaN left out. The array is reordered in place.
        n_clusters: The number of clusters with a value, of each row.

    Returns:
        An estimate for each row; its value is None if the value is NaN.
    """
    bounds = np.full((len(values), 2), np.nan)
    usable = (n_clusters >= 2) & ~np.isnan(values) & ~np.isnan(resampled).all(axis=1)
    complete = usable & ~np.isnan(resampled).any(axis=1)
    for rows, percentile in ((complete, np.percentile), (usable & ~complete, np.nanpercentile)):
        if rows.any():
            bounds[rows] = percentile(resampled[rows], [2.5, 97.5], axis=1).T
    return estimates_of(values, bounds, n_clusters, [PERCENTILES] * len(values))


def estimates_of(
    values: Floats, bounds: Floats, n_clusters: NDArray[np.int64], methods: Iterable[str]
) -> list[Estimate]:
    """Make estimates of values (rows) and their bounds (rows x 2), which rounding may have moved.

    A value of NaN is None; without bounds there is neither an interval nor a method.
    """
    return [
        Estimate(
            None if np.isnan(value) else float(value),
            None if np.isnan(low) else float(min(low, value)),
            None if np.isnan(low) else float(max(high, value)),
            int(n),
            None if np.isnan(low) else str(method),
        )
        for value, (low, high), n, method in zip(values, bounds, n_clusters, methods, strict=True)
    ]
