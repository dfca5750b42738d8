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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.estimates import Aggregation, Estimate
from methods.evaluation.statistics.resampling import (
    N_RESAMPLES,
    Clusters,
    ClusterTotals,
    Floats,
    chunk_sizes,
    cluster_totals,
    paired_totals,
    percentile_estimates,
    ratio,
    resampled_sums,
)

MOST_ENUMERATED = 12
"""With so many clusters or fewer all signs are tried: 4,096 at most."""
CELLS_AT_ONCE = 2**22
"""How many sums, rows x clusters or rows x resamples, are in memory at once: 32 MiB of each."""
PAIRS_AT_ONCE = 100
"""How many differences are resampled at once: 8 MB for 10,000 resamples."""
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


class Sides(NamedTuple):
    """Totals of differences, and what they are differences of.

    `pairs` are two models each, by their rows in `values`. Where all models have values for the same
    units, `models` has the totals of these, and the sums of a pair are the difference of two of them.
    """

    pairs: Sequence[tuple[int, int]]
    totals: ClusterTotals
    models: Floats | None = None


def sides(values: Floats, clusters: Clusters) -> Sides:
    """Every pair of models, in the order of `itertools.combinations`.

    `values` is models x units with NaN where a model has no value, `clusters` units.
    """
    missing = np.isnan(values)
    pairs, totals = paired_totals(values, clusters)
    alike = len(values) > 2 and bool((missing == missing[:1]).all())
    return Sides(pairs, totals, cluster_totals(values, clusters).sums if alike else None)


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
    means = Sides(pairs, counted.by(aggregation))
    compared = _alone(means, seed=seed, n_resamples=n_resamples)
    n_units = counted.sizes.sum(axis=1)
    return [replace(pair, n_units=int(n)) for pair, n in zip(compared, n_units, strict=True)]


def compare_differences(
    differences: Floats, clusters: Clusters, *, seed: int, n_resamples: int = N_RESAMPLES
) -> list[Comparison]:
    """Each row of differences compared with 0; `first` and `second` are the row.

    `differences` is rows x units with NaN where a unit has none, `clusters` units. All rows share their
    draws. `p_adjusted` is Holm's over all rows.
    """
    rows = [(row, row) for row in range(len(differences))]
    counted = Sides(rows, cluster_totals(differences, clusters))
    return _alone(counted, seed=seed, n_resamples=n_resamples)


def _alone(of: Sides, *, seed: int, n_resamples: int) -> list[Comparison]:
    tables = Tables(seed=seed, n_resamples=n_resamples)
    place = tables.add(of)
    return tables.found()[place]


class Tables:
    """Tables of differences that are compared by micro means; p is adjusted within a table.

    Tables of equally many clusters share their draws: these are drawn once for all that fit in memory.
    """

    def __init__(self, *, seed: int, n_resamples: int = N_RESAMPLES):
        self._drawn = {"seed": seed, "n_resamples": n_resamples}
        self._found: list[list[Comparison]] = []
        self._waiting: list[_Table] = []

    def add(self, of: Sides) -> int:
        """One more table; its place among those that are found."""
        table = _table(of)
        n_rows = sum(len(each.rows) for each in [*self._waiting, table])
        if n_rows * max(self._drawn["n_resamples"], table.rows.shape[1]) > CELLS_AT_ONCE:
            self.found()
        self._waiting.append(table)
        return len(self._found) + len(self._waiting) - 1

    def found(self) -> list[list[Comparison]]:
        """The comparisons of each table, in the order in which they were added."""
        self._found += _compared(self._waiting, **self._drawn)
        self._waiting = []
        return self._found


class _Table(NamedTuple):
    """What is resampled of a table, rows x clusters, and the row or the two of each difference."""

    pairs: Sequence[tuple[int, int]]
    means: Floats
    n_units: Floats
    n_clusters: NDArray[np.int64]
    exact: list[float | None]
    """p of the rows for which all signs are tried."""
    observed: Floats
    """Two columns: T(1) of each row, and what rounding may make of it."""
    rows: Floats
    """The sums of models, or of differences; then their sizes."""
    n_sums: int
    first: NDArray[np.int64]
    second: NDArray[np.int64] | None
    size_of: NDArray[np.int64]

    def differences(self, drawn: Floats, some: slice) -> Floats:
        """The sums of some differences, of those of `rows`."""
        first = drawn[self.first[some]]
        return first if self.second is None else first - drawn[self.second[some]]


def _table(of: Sides) -> _Table:
    totals = of.totals
    # Rows valued on the same units have the same sizes: these are summed once.
    sizes, size_of = totals.sizes, np.arange(len(totals.sizes))
    if sizes.size:
        sizes, size_of = np.unique(sizes, axis=0, return_inverse=True)
    rows = totals.sums if of.models is None else of.models
    numbers = np.array(of.pairs, dtype=np.int64).reshape(-1, 2)
    # Sums of the same numbers in another order differ in their last digits.
    rounding = 1e-9 * np.abs(totals.sums).sum(axis=1)
    n_clusters = totals.n_clusters
    return _Table(
        of.pairs,
        totals.means,
        totals.sizes.sum(axis=1),
        n_clusters,
        [
            _exact_p(sums[sizes > 0]) if 0 < n <= MOST_ENUMERATED else None
            for sums, sizes, n in zip(totals.sums, totals.sizes, n_clusters, strict=True)
        ],
        np.stack([np.abs(totals.sums.sum(axis=1)), rounding], axis=1),
        np.concatenate([rows, sizes]),
        len(rows),
        np.arange(len(numbers)) if of.models is None else numbers[:, 0],
        None if of.models is None else numbers[:, 1],
        size_of.reshape(-1),
    )


def _compared(
    tables: Sequence[_Table], *, seed: int, n_resamples: int
) -> Iterator[list[Comparison]]:
    """The comparisons of some tables, which are in memory together."""
    of_size: dict[int, list[_Table]] = {}
    for table in tables:
        of_size.setdefault(table.rows.shape[1], []).append(table)
    found: dict[int, list[Comparison]] = {}
    for alike in of_size.values():
        ends = np.cumsum([0, *(len(table.rows) for table in alike)]).tolist()
        rows = np.concatenate([table.rows for table in alike])
        drawn = resampled_sums(rows, seed=seed, n_resamples=n_resamples) if rows.size else rows
        signed = _as_extreme(alike, seed=seed, n_flips=n_resamples)
        for table, start, end, as_extreme in zip(alike, ends, ends[1:], signed, strict=False):
            estimates = _estimates(table, drawn[start:end])
            p_values = _p_values(table, as_extreme, n_resamples)
            found[id(table)] = _comparisons(table, estimates, p_values)
    yield from (found[id(table)] for table in tables)


def _estimates(table: _Table, drawn: Floats) -> list[Estimate]:
    """The mean of each difference with its interval; `drawn` has the sums of `table.rows`."""
    if not table.rows.size:
        return [Estimate(None, None, None) for _ in table.pairs]
    estimates = []
    for start in range(0, len(table.pairs), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        sizes = drawn[table.n_sums :][table.size_of[some]]
        resampled = ratio(table.differences(drawn, some), sizes)
        estimates += percentile_estimates(table.means[some], resampled, table.n_clusters[some])
    return estimates


def _comparisons(
    table: _Table, estimates: Sequence[Estimate], p_values: Sequence[float | None]
) -> list[Comparison]:
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
            table.pairs,
            estimates,
            p_values,
            holm(p_values),
            table.n_units,
            table.n_clusters,
            strict=True,
        )
    ]


def sign_flip_p_values(totals: ClusterTotals, *, seed: int, n_flips: int) -> list[float | None]:
    """Two-sided p of each row of differences having the mean 0; None for a row without values."""
    table = _table(Sides([(row, row) for row in range(len(totals.sums))], totals))
    (as_extreme,) = _as_extreme([table], seed=seed, n_flips=n_flips)
    return _p_values(table, as_extreme, n_flips)


def _p_values(table: _Table, as_extreme: Floats, n_flips: int) -> list[float | None]:
    return [
        exact if n <= MOST_ENUMERATED else float((count + 1) / (n_flips + 1))
        for exact, n, count in zip(table.exact, table.n_clusters, as_extreme, strict=True)
    ]


def _exact_p(sums: Floats) -> float:
    """p of one row of differences, whose every cluster has some, by all signs."""
    statistics = np.abs(sums[None] @ all_signs(len(sums)).T)
    least = np.abs(sums.sum()) - 1e-9 * np.abs(sums).sum()
    return float((statistics >= least).sum() / 2 ** len(sums))


def _as_extreme(tables: Sequence[_Table], *, seed: int, n_flips: int) -> list[Floats]:
    """For each difference of each table, how many drawn signs give at least its T."""
    counts = [np.zeros(len(table.pairs)) for table in tables]
    n_clusters = tables[0].rows.shape[1]
    if n_clusters <= MOST_ENUMERATED:
        return counts
    rows = np.concatenate([table.rows[: table.n_sums] for table in tables])
    ends = np.cumsum([0, *(table.n_sums for table in tables)]).tolist()
    # Not the stream that draws clusters.
    generator = np.random.default_rng([seed, 1])
    for _, number in chunk_sizes(n_flips, n_clusters):
        signs = np.where(generator.integers(0, 2, size=(number, n_clusters)), 1.0, -1.0)
        drawn = rows @ signs.T
        for table, count, start, end in zip(tables, counts, ends, ends[1:], strict=False):
            for first in range(0, len(table.pairs), PAIRS_AT_ONCE):
                some = slice(first, first + PAIRS_AT_ONCE)
                statistics = np.abs(table.differences(drawn[start:end], some))
                observed, rounding = table.observed[some].T
                least = (observed - rounding)[:, None]
                count[some] += (statistics >= least).sum(axis=1)
    return counts


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
