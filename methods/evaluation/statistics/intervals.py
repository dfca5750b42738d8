"""Intervals and tests of means over few clusters, on a scale with two ends, without drawing.

A sample says nothing of clusters that it does not have: ten right answers of ten do not show that every
answer is right. So one cluster that was not seen is added, on the side that is tested, and clusters are
weighted at random, as in a Bayesian bootstrap. For a mean m with the cluster sums t_c and sizes n_c,

    a_c = t_c - m n_c,    p_low(m) = P( sum_c E_c a_c - E_0 u <= 0 ),   E independent, exponential

and the lower end of the interval is the m with p_low(m) = alpha / 2; the upper end is that of -t_c. The
unseen cluster stands below m by u, not beyond the end of the scale:

    u = max( sum_c |a_c|^3 / sum_c a_c^2,  2 (m - end) mean(n) / 3 )
    u = (m - end) mean(n)                    where all clusters have the same mean

The first term takes in skewness as far as the sample shows it, the second what it cannot show: a
failure that did not happen yet. Where all answers are right, or as many right as wrong, the interval
is that of Clopper and Pearson. A difference of two models has the first term alone, and in the place of
an end twice the difference where all clusters have the same: p is 2 / 2^C then, and never less.
p = 2 min(p_low, p_high) at m = 0 is below alpha exactly where the interval leaves 0 out.

P is found by a saddlepoint: with s the root of sum_c a_c / (1 - s a_c) = 0 (the equation of the
empirical likelihood), K(s) = -sum_c log(1 - s a_c), w = sign(s) sqrt(-2 K(s)), v = s sqrt(K''(s)),

    P = Phi(r),    r = w + log(v / w) / w

Any other statistic has clusters' pseudo-values in the place of t_c, with n_c = 1: the statistic plus C
times the derivative by the weight of cluster c. Sources: Rubin (1981), The Bayesian Bootstrap; Owen
(2001), Empirical Likelihood; Chen, Variyath and Abraham (2008), Adjusted Empirical Likelihood and its
Properties (a point that was not seen); Gaffke (2005), Three test statistics for a nonparametric
one-sided hypothesis on the mean of a nonnegative variable (that point at the end of the scale);
Barndorff-Nielsen (1986), Inference on full or partial parameters (r). How often intervals hold:
decision 62.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.estimates import UNSEEN, Estimate
from methods.evaluation.statistics.resampling import (
    DRAWN_AT_ONCE,
    ClusterTotals,
    Floats,
    chunk_sizes,
    ratio,
)

LEVEL = 0.95
OF_THE_WAY = 2 / 3
"""How far to the end of the scale a cluster that was not seen stands at least."""
ROUNDING = 1e-9
FAR = 40.0
"""Stands for an infinite quantile."""
WORTH_COUNTING = 4
"""Clusters are put together where there are at least so many for each sum and size."""
ENOUGH_ALIKE = 12.0
"""Clusters, (sum n_c)^2 / sum n_c^2 of them, from which on means further away are never likelier."""
LOOKED_AT = 16
"""Steps to the end of the scale at which that is looked at where there are fewer."""
CLOSE = 1e-7
"""How near its quantile an end is found."""


def score_estimates(totals: ClusterTotals, low: Floats, high: Floats) -> list[Estimate]:
    """The mean of each row with its interval on a scale from `low` to `high` (an end for each row).

    None for a row without values; one with values in a single cluster has no interval.
    """
    bounds = _intervals(totals, low, high, OF_THE_WAY, LEVEL)
    return _estimates(totals, np.clip(bounds, low[:, None], high[:, None]))


def difference_estimates(totals: ClusterTotals, span: Floats) -> list[Estimate]:
    """The mean of each row of differences with its interval; `span` is how large one can be.

    Clusters of weighted means may be further apart, which the method looks at; the mean is not.
    """
    bounds = difference_bounds(totals, span, LEVEL)
    return _estimates(totals, np.clip(bounds, -span[:, None], span[:, None]))


def difference_bounds(totals: ClusterTotals, span: Floats, level: float) -> Floats:
    """The ends of the interval of each row of differences at a level, rows x 2."""
    return _intervals(totals, *_ends(totals, span), 0.0, level)


def p_values(totals: ClusterTotals, span: Floats) -> Floats:
    """Two-sided p of each row of differences having the mean 0; NaN where a row has no value."""
    from scipy.special import ndtr

    low, high = _ends(totals, span)
    p = np.full(len(low), np.nan)
    for some in _parts(totals):
        rows = _counted(totals.sums[some], totals.sizes[some])
        rows, ends = _both_ways(rows), np.concatenate([low[some], -high[some]])
        found = _highest_quantile(rows, np.zeros(len(ends)), ends, _are_equal(rows), 0.0)
        p[some] = np.minimum(1.0, 2 * ndtr(np.minimum(*np.split(found, 2))))
    return np.where(totals.n_clusters == 0, np.nan, np.where(totals.n_clusters == 1, 1.0, p))


def pseudo_values(value: float, influences: Floats) -> Floats:
    """Clusters' values whose mean is `value`; `influences` are derivatives by clusters' weights."""
    pseudo: Floats = value + len(influences) * influences
    return pseudo


def _estimates(totals: ClusterTotals, bounds: Floats) -> list[Estimate]:
    return [
        Estimate(
            None if np.isnan(value) else float(value),
            None if np.isnan(low) else float(min(low, value)),
            None if np.isnan(high) else float(max(high, value)),
            int(n),
            None if np.isnan(low) else UNSEEN,
        )
        for value, (low, high), n in zip(totals.means, bounds, totals.n_clusters, strict=True)
    ]


def _intervals(
    totals: ClusterTotals, low: Floats, high: Floats, of_the_way: float, level: float
) -> Floats:
    bounds = np.full((len(low), 2), np.nan)
    for some in _parts(totals):
        rows = _counted(totals.sums[some], totals.sizes[some])
        enough = rows.n_clusters >= 2
        rows = rows.of(enough)
        ends = np.concatenate([low[some][enough], -high[some][enough]])
        lows, highs = np.split(_lower(_both_ways(rows), ends, of_the_way, level), 2)
        bounds[np.flatnonzero(enough) + some.start] = np.stack([lows, -highs], axis=1)
    return bounds


def _parts(totals: ClusterTotals) -> list[slice]:
    """Rows that are worked on at once, so that memory is bounded."""
    n_rows, n_clusters = totals.sums.shape
    return [slice(start, start + n) for start, n in chunk_sizes(n_rows, n_clusters, DRAWN_AT_ONCE)]


@dataclass(frozen=True)
class _CountedTotals(ClusterTotals):
    """Totals whose cells each stand for `counts` clusters with the same sum and size: of 10,000 items
    that are right or wrong there are four."""

    counts: Floats

    def of(self, rows: NDArray[Any]) -> "_CountedTotals":
        """Some of the rows."""
        return _CountedTotals(self.sums[rows], self.sizes[rows], self.counts[rows])

    def total(self, cells: Floats) -> Floats:
        """The sum of each row over all clusters."""
        return _total(self.counts, cells)

    @property
    def means(self) -> Floats:
        """As of `ClusterTotals`."""
        return ratio(self.total(self.sums), self.total(self.sizes))

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """As of `ClusterTotals`."""
        return self.total((self.sizes > 0).astype(float)).astype(np.int64)


def _counted(sums: Floats, sizes: Floats) -> _CountedTotals:
    """Clusters put together where they have few sums and sizes; what a row has none of is 0."""
    each_sum, each_size = np.unique(sums), np.unique(sizes)
    if len(each_sum) * len(each_size) * WORTH_COUNTING >= sums.shape[1]:
        return _CountedTotals(sums, sizes, np.ones_like(sums))
    pairs = [(of, n) for of in each_sum for n in each_size]
    counts = np.stack([((sums == of) & (sizes == n)).sum(axis=1) for of, n in pairs], axis=1)
    of_pairs, n_of_pairs = np.array(pairs).T
    there = counts > 0
    return _CountedTotals(
        np.where(there, of_pairs, 0.0), np.where(there, n_of_pairs, 0.0), counts.astype(float)
    )


def _total(counts: Floats, cells: Floats) -> Floats:
    total: Floats = np.einsum("ij,ij->i", counts, cells)
    return total


def _both_ways(totals: _CountedTotals) -> _CountedTotals:
    """All rows, then all with the opposite values: lower ends of these are upper ends of the others."""
    sums, sizes, counts = totals.sums, totals.sizes, totals.counts
    return _CountedTotals(*map(np.concatenate, ([sums, -sums], [sizes] * 2, [counts] * 2)))


def _extremes(totals: ClusterTotals) -> tuple[Floats, Floats]:
    """The lowest and the highest mean of a cluster, by row."""
    means = ratio(totals.sums, totals.sizes)
    present = totals.sizes > 0
    return (
        np.where(present, means, np.inf).min(axis=1, initial=np.inf),
        np.where(present, means, -np.inf).max(axis=1, initial=-np.inf),
    )


def _are_equal(totals: ClusterTotals) -> NDArray[np.bool_]:
    """Whether all clusters of a row have the same mean."""
    low, high = _extremes(totals)
    equal: NDArray[np.bool_] = high - low <= ROUNDING * np.maximum(1.0, np.abs(high))
    return equal


def _ends(totals: ClusterTotals, span: Floats) -> tuple[Floats, Floats]:
    """What takes the place of the ends of a scale for differences."""
    reach = np.where(_are_equal(totals), 2 * np.abs(totals.means), np.inf)
    reach = np.where(reach > ROUNDING, reach, np.inf)
    middle = np.where(np.isfinite(reach), totals.means, 0.0)
    return np.maximum(-span, middle - reach), np.minimum(span, middle + reach)


def _lower(totals: _CountedTotals, end: Floats, of_the_way: float, level: float) -> Floats:
    """The lower end of each row's interval: where the quantile is that of (1 - level) / 2.

    False position between the end of the scale and the mean (the Illinois rule).
    """
    from scipy.special import ndtri

    means = totals.means
    if not len(means):
        return means
    wanted = ndtri((1 - level) / 2)
    # Means of a rounding beyond the end, and weighted ones, are on the scale, too.
    low, high = np.minimum(end, _extremes(totals)[0]), means.copy()
    equal = _are_equal(totals)
    end = low.copy()
    at_low, at_high = np.full(len(means), -FAR), np.full(len(means), FAR)
    residuals = totals.sums - totals.sizes * means[:, None]
    error = np.sqrt(totals.total(residuals**2)) / totals.total(totals.sizes)
    at = np.where((means - 2.2 * error > low) & (error > 0), means - 2.2 * error, (low + high) / 2)
    found = means - low <= ROUNDING * np.maximum(1.0, np.abs(means))
    at = np.where(found, low, at)
    before = np.zeros(len(means))
    for _ in range(100):
        left = np.flatnonzero(~found)
        if not len(left):
            break
        off = _highest_quantile(totals.of(left), at[left], end[left], equal[left], of_the_way)
        off -= wanted
        off = np.clip(off, -FAR, FAR)
        above = off > 0
        again = np.where(above, 1.0, -1.0)
        halved = np.where(before[left] == again, 0.5, 1.0)
        at_high[left] = np.where(above, off, at_high[left] * np.where(above, 1.0, halved))
        at_low[left] = np.where(above, at_low[left] * halved, off)
        high[left] = np.where(above, at[left], high[left])
        low[left] = np.where(above, low[left], at[left])
        before[left] = again
        narrow = high[left] - low[left] <= ROUNDING * np.maximum(1.0, np.abs(means[left]))
        found[left] = (np.abs(off) < CLOSE) | narrow
        left = np.flatnonzero(~found)
        between = (low[left] * at_high[left] - high[left] * at_low[left]) / (
            at_high[left] - at_low[left]
        )
        inside = (between > low[left]) & (between < high[left])
        at[left] = np.where(inside, between, (low[left] + high[left]) / 2)
    return at


def _highest_quantile(
    totals: _CountedTotals, at: Floats, end: Floats, equal: NDArray[np.bool_], of_the_way: float
) -> Floats:
    """The quantile of each row, or a higher one of a mean further down.

    Where few clusters have most of the values the unseen one, which is like these, makes means that are
    far away likelier than some between. A mean is left out only where all that are further away are.
    """
    highest = _quantile(totals, at, end, equal, of_the_way)
    sizes = totals.total(totals.sizes)
    few = totals.total(totals.sizes**2) * ENOUGH_ALIKE > sizes**2
    uneven = np.flatnonzero(
        few & (totals.sizes.max(axis=1, initial=0.0) * totals.n_clusters > sizes)
    )
    steps = np.arange(1, LOOKED_AT) / LOOKED_AT
    cells = len(steps) * totals.sums.shape[1]
    # All steps of many rows at once, since rows are short.
    for start, n in chunk_sizes(len(uneven), cells, DRAWN_AT_ONCE):
        some = uneven[start : start + n]
        each = np.repeat(some, len(steps))
        further = at[each] - np.tile(steps, n) * (at[each] - end[each])
        found = _quantile(totals.of(each), further, end[each], equal[each], of_the_way)
        highest[some] = np.maximum(highest[some], found.reshape(n, len(steps)).max(axis=1))
    return highest


def _quantile(
    totals: _CountedTotals, at: Floats, end: Floats, equal: NDArray[np.bool_], of_the_way: float
) -> Floats:
    """The normal quantile of P(the mean is `at` or less) of each row, with the unseen cluster below."""
    a = totals.sums - at[:, None] * totals.sizes
    reach = at - end
    n_clusters = np.maximum(1, totals.n_clusters)
    magnitude = np.abs(a)
    squares = magnitude * magnitude
    total = totals.total(squares)
    skewed = totals.total(squares * magnitude) / np.where(total > 0, total, 1.0)
    to_end = reach * totals.total(totals.sizes) / n_clusters
    unseen = np.where(
        equal,
        to_end,
        np.minimum(
            np.maximum(skewed, of_the_way * to_end), reach * totals.sizes.max(axis=1, initial=0.0)
        ),
    )
    cells = np.concatenate([a, -np.maximum(unseen, 0.0)[:, None]], axis=1)
    counts = np.concatenate([totals.counts, np.ones((len(a), 1))], axis=1)
    largest = np.abs(cells).max(axis=1)
    tiny = 1e-12 * np.maximum(largest, 1e-300)
    quantile = np.where((cells <= tiny[:, None]).all(axis=1), FAR, -FAR)
    both = (cells > tiny[:, None]).any(axis=1) & (cells < -tiny[:, None]).any(axis=1)
    if both.any():
        quantile[both] = _signed_root(cells[both] / largest[both, None], counts[both])
    return quantile


def _signed_root(a: Floats, counts: Floats) -> Floats:
    """r of each row, P(sum_c E_c a_c <= 0) = Phi(r); each row has cells of both signs."""
    low, high = 1 / a.min(axis=1), 1 / a.max(axis=1)
    s = np.zeros(len(a))
    for _ in range(100):
        g = a / (1 - s[:, None] * a)
        first, second = _total(counts, g), _total(counts, g * g)
        done = np.abs(first) <= 1e-7 * np.sqrt(second)
        if done.all():
            break
        high = np.where(first > 0, s, high)
        low = np.where(first > 0, low, s)
        step = s - first / second
        inside = (step > low) & (step < high)
        s = np.where(done, s, np.where(inside, step, (low + high) / 2))
    g = a / (1 - s[:, None] * a)
    second = _total(counts, g * g)
    w = np.sign(s) * np.sqrt(np.maximum(2 * _total(counts, np.log1p(-s[:, None] * a)), 0.0))
    v = s * np.sqrt(second)
    # At s = 0 the quotient is 0 / 0; its limit is a third of the skewness.
    limit = _total(counts, g**3) / second**1.5 / 3
    near = np.abs(w) < 1e-3
    safe = np.where(near, 1.0, w)
    root: Floats = w + np.where(near, limit, np.log(np.where(near, 1.0, v / safe)) / safe)
    return root
