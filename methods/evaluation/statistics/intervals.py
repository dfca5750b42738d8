"""Confidence intervals of scores, and intervals and tests of differences, by Student's t over clusters.

With the sums t_c and sizes n_c of C clusters, N = sum_c n_c and the shares w_c = n_c / N, the mean is m
= sum_c t_c / N, and its standard error (CR2) and degrees of freedom (Satterthwaite) are

    r_c = (t_c - m n_c) / N,    SE^2 = sum_c r_c^2 / (1 - w_c)
    df = 1 / ( sum_c w_c^2 + sum_{c != d} v_c v_d ),    v_c = w_c^2 / (1 - w_c)

For clusters of equal size these are the standard error of their mean and C - 1.

Score: two pseudo-clusters of mean size are added, one at each end of the scale, and the t interval of
all C + 2 clusters is clipped to the scale. If each cluster is a single value at an end of the scale,
the interval is that of Clopper and Pearson.

Difference of two models: paired t. Skewed differences, with the skewness

    k = sum_c r_c^3 / (sum_c r_c^2)^(3/2),

give t a long tail on the side opposite to k. There the quantile q of Student's t is replaced by that of
the Cornish-Fisher expansion,

    q + |k| (2 q^2 + 1) / 6

On the side of k the quantile is unchanged. p is that of the q whose expansion is |t|. So p falls as |t|
grows, and is below 0.05 exactly if the interval excludes 0. Differences that are all equal have no
standard error: the two pseudo-clusters are added, at the largest difference in favour of each model.

Sources: Bell and McCaffrey (2002), Bias Reduction in Standard Errors for Linear Regression with
Multi-Stage Samples; Pustejovsky and Tipton (2018), Small-Sample Methods for Cluster-Robust Variance
Estimation (CR2, degrees of freedom); Agresti and Coull (1998), Approximate Is Better than "Exact" for
Interval Estimation of Binomial Proportions (pseudo-observations); Clopper and Pearson (1934), The Use
of Confidence or Fiducial Limits; Johnson (1978), Modified t Tests and Confidence Intervals for
Asymmetrical Populations; Hall (1983), Inverting an Edgeworth Expansion; Miller (2024), Adding Error
Bars to Evals (paired differences, clusters). Simulations: decision 62.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import ClusterTotals, Floats, estimates_of, ratio
from methods.evaluation.statistics.estimates import BINOMIAL, PAIRED_T, PSEUDO_CLUSTERS, Estimate

LEVEL = 0.95
ROUNDING = 1e-9


class MeanFit(NamedTuple):
    """The mean of each row, its standard error and degrees of freedom, and the skewness k.

    Values are NaN if a row has no value; all but the mean are NaN if its values are in one cluster.
    """

    means: Floats
    errors: Floats
    freedom: Floats
    skewness: Floats


def mean_fit(totals: ClusterTotals) -> MeanFit:
    """Compute the mean of each row with its CR2 standard error."""
    sizes = totals.sizes.sum(axis=1)[:, None]
    shares = ratio(totals.sizes, sizes)
    residuals = ratio(totals.sums - totals.means[:, None] * totals.sizes, sizes)
    # A square is the same for r and -r; numpy's other powers may differ in the last digit.
    squares, cubes = residuals**2, residuals**2 * residuals
    leverages = ratio(shares**2, 1 - shares)
    crossed = leverages.sum(axis=1) ** 2 - (leverages**2).sum(axis=1)
    return MeanFit(
        totals.means,
        np.sqrt(ratio(squares, 1 - shares).sum(axis=1)),
        ratio(np.ones(len(shares)), (shares**2).sum(axis=1) + crossed),
        ratio(cubes.sum(axis=1), squares.sum(axis=1) ** 1.5),
    )


def score_estimates(totals: ClusterTotals, low: Floats, high: Floats) -> list[Estimate]:
    """Estimate the mean of each row with its interval.

    Args:
        totals: Rows x clusters.
        low: The lower end of the scale of each row.
        high: The upper end.

    Returns:
        An estimate for each row; its value is None if the row has no values, its interval is None if
        the values are in a single cluster.
    """
    fit = mean_fit(_with_pseudo_clusters(totals, low, high))
    reach = _t_quantile(fit.freedom, LEVEL) * fit.errors
    bounds = np.stack([fit.means - reach, fit.means + reach], axis=1)
    is_binomial = _are_binomial(totals, low, high)
    bounds[is_binomial] = _clopper_pearson(totals, low, high)[is_binomial]
    methods = np.where(is_binomial, BINOMIAL, PSEUDO_CLUSTERS)
    return _estimates(totals, bounds, low, high, methods)


def difference_estimates(totals: ClusterTotals, span: Floats) -> list[Estimate]:
    """Estimate the mean difference of each row with its interval.

    Args:
        totals: Totals of differences, shape (rows, clusters).
        span: The largest possible difference of each row.

    Returns:
        An estimate for each row.
    """
    bounds = difference_bounds(totals, span, LEVEL)
    methods = np.where(_are_equal(mean_fit(totals)), PSEUDO_CLUSTERS, PAIRED_T)
    return _estimates(totals, bounds, -span, span, methods)


def difference_bounds(totals: ClusterTotals, span: Floats, level: float) -> Floats:
    """Compute the ends of the interval of each row of differences, without clipping them to the scale.

    Args:
        totals: Totals of differences, rows x clusters.
        span: The largest possible difference of each row.
        level: The level of the interval, such as 0.95.

    Returns:
        Rows x 2, NaN if a row has values in fewer than two clusters.
    """
    fit = _difference_fit(totals, span)
    quantile = _t_quantile(fit.freedom, level)
    below = _expanded(quantile, np.maximum(-fit.skewness, 0))
    above = _expanded(quantile, np.maximum(fit.skewness, 0))
    return np.stack([fit.means - below * fit.errors, fit.means + above * fit.errors], axis=1)


def p_values(totals: ClusterTotals, span: Floats) -> Floats:
    """Compute the two-sided p of each row of differences, for the hypothesis that the mean is 0.

    Args:
        totals: Totals of differences, rows x clusters.
        span: The largest possible difference of each row.

    Returns:
        One p for each row: NaN if the row has no value, 1 if its values are in one cluster.
    """
    from scipy.special import stdtr

    fit = _difference_fit(totals, span)
    t = fit.means / fit.errors
    against = np.maximum(-fit.skewness * np.sign(t), 0)
    p: Floats = 2 * stdtr(fit.freedom, -_unexpanded(np.abs(t), against))
    return np.where(totals.n_clusters == 1, 1.0, p)


def _estimates(
    totals: ClusterTotals, bounds: Floats, low: Floats, high: Floats, methods: NDArray[np.str_]
) -> list[Estimate]:
    bounds = np.clip(bounds, low[:, None], high[:, None])
    bounds[totals.n_clusters < 2] = np.nan
    return estimates_of(totals.means, bounds, totals.n_clusters, methods)


def _t_quantile(freedom: Floats, level: float) -> Floats:
    from scipy.special import stdtrit

    quantile: Floats = stdtrit(freedom, (1 + level) / 2)
    return quantile


def _with_pseudo_clusters(totals: ClusterTotals, low: Floats, high: Floats) -> ClusterTotals:
    """The totals with one more cluster of mean size at `low`, and one at `high`."""
    sizes = ratio(totals.sizes.sum(axis=1), totals.n_clusters.astype(float))
    return ClusterTotals(
        np.column_stack([totals.sums, low * sizes, high * sizes]),
        np.column_stack([totals.sizes, sizes, sizes]),
    )


def _are_equal(fit: MeanFit) -> NDArray[np.bool_]:
    """Whether the clusters of a row have equal means, up to rounding."""
    equal: NDArray[np.bool_] = fit.errors <= ROUNDING * np.maximum(1.0, np.abs(fit.means))
    return equal


def _difference_fit(totals: ClusterTotals, span: Floats) -> MeanFit:
    fit = mean_fit(totals)
    # Compute with a mean above 0, so that rounding is the same for both orders of a pair of models.
    sign = np.where(totals.means < 0, -1.0, 1.0)
    above = ClusterTotals(totals.sums * sign[:, None], totals.sizes)
    with_pseudo = mean_fit(_with_pseudo_clusters(above, -span, span))
    symmetric = with_pseudo._replace(means=with_pseudo.means * sign, skewness=np.zeros(len(span)))
    equal = _are_equal(fit)
    return MeanFit(*(np.where(equal, *pair) for pair in zip(symmetric, fit, strict=True)))


def _expanded(quantile: Floats, skewness: Floats) -> Floats:
    """The quantile by the Cornish-Fisher expansion, for a skewness of at least 0."""
    return quantile + skewness * (2 * quantile**2 + 1) / 6


def _unexpanded(t: Floats, skewness: Floats) -> Floats:
    """The inverse of `_expanded`: the quantile that the expansion takes to `t`; at least 0."""
    bend = skewness / 3
    rest = np.maximum(t - skewness / 6, 0)
    # The root of bend q^2 + q = rest, written without a difference of nearly equal numbers.
    quantile: Floats = 2 * rest / (1 + np.sqrt(1 + 4 * bend * rest))
    return quantile


def _are_binomial(totals: ClusterTotals, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Whether each cluster of a row is one value at an end of the scale."""
    low, high = low[:, None], high[:, None]
    off = np.minimum(np.abs(totals.sums - low), np.abs(totals.sums - high))
    is_one = (totals.sizes == 1) & (off <= ROUNDING * np.maximum(1.0, np.abs(high)))
    binomial: NDArray[np.bool_] = (is_one | (totals.sizes == 0)).all(axis=1)
    return binomial


def _clopper_pearson(totals: ClusterTotals, low: Floats, high: Floats) -> Floats:
    """The exact interval of a share of clusters at `high`, on the scale from `low` to `high`."""
    from scipy.special import betaincinv

    n = totals.n_clusters
    n_high = np.nan_to_num(np.rint(n * (totals.means - low) / (high - low)))
    n_low = n - n_high
    tail = (1 - LEVEL) / 2
    least = np.where(n_high > 0, betaincinv(np.maximum(n_high, 1), n_low + 1, tail), 0.0)
    most = np.where(n_low > 0, betaincinv(n_high + 1, np.maximum(n_low, 1), 1 - tail), 1.0)
    return low[:, None] + (high - low)[:, None] * np.stack([least, most], axis=1)
