"""Agreement of two raters' scores: correlations, distances and shares in the same band.

Every measure raises ValueError unless there are two raters.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from methods.agreement.rating_matrix import NOBODY_TWICE, MeasureValue, Ratings, paired_ratings

MIN_ITEMS = 3
"""The fewest items of a correlation: with two items it is always 1 or -1."""

Correlation = Callable[[NDArray[np.float64], NDArray[np.float64]], float]

Bands = Sequence[tuple[float, float]]
"""The lowest and the highest score of each band, ascending. A score between two bands, as a mean of
raters or replicates may be, belongs to the lower band: 2.5 is in the band that ends with 2."""

LOWEST, HIGHEST = 1, 10
"""The scale of the bands, which are AlignMMBench's (5.2)."""
FUZZY: Bands = ((1, 2), (3, 5), (6, 8), (9, 10))
"""The bands of fuzzy accuracy: Unfollow, Bad, Good, Excellent."""
STRICT: Bands = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 6), (7, 8), (9, 10))
"""The bands of strict accuracy: each is one of the criteria that the judge scores by."""
ROUNDING = 1e-18
"""A smaller variance counts as 0: means of the same scores may differ by rounding."""


# --- Correlations --------------------------------------------------------------------------------
# Sources: MMDU, Table 4 (judge and people); AlignMMBench (its evaluator and people).


def pearson(ratings: Ratings) -> MeasureValue:
    """Pearson's r: how close one rater's scores are to a linear function of the other's, -1 to 1.

    r = sum_i (a_i - mean a)(b_i - mean b) / sqrt( sum_i (a_i - mean a)^2  sum_i (b_i - mean b)^2 )
    """
    from scipy.stats import pearsonr

    return _correlated(ratings, lambda first, second: pearsonr(first, second).statistic)


def spearman(ratings: Ratings) -> MeasureValue:
    """Spearman's rho: how well two raters put the items in the same order, -1 to 1.

    rho = Pearson's r of the ranks; items with the same score share the mean of their ranks
    """
    from scipy.stats import spearmanr

    return _correlated(ratings, lambda first, second: spearmanr(first, second).statistic)


def kendall(ratings: Ratings) -> MeasureValue:
    """Kendall's tau-b: how often two raters put the same one of two items first, -1 to 1.

        tau_b = (C - D) / sqrt( (C + D + T_a) (C + D + T_b) )

    over all pairs of items: C in the same order, D in opposite orders, T_a tied for rater a only, T_b
    for rater b only.
    """
    from scipy.stats import kendalltau

    # `method` only affects the p-value, which is not used; the asymptotic one is the fastest.
    return _correlated(
        ratings, lambda first, second: kendalltau(first, second, method="asymptotic").statistic
    )


def _correlated(ratings: Ratings, correlation: Correlation) -> MeasureValue:
    """Compute the correlation of two raters over items that both rated, or say why there is none."""
    first, second = paired_ratings(ratings)
    if not len(first):
        return MeasureValue(None, NOBODY_TWICE)
    if len(first) < MIN_ITEMS:
        return MeasureValue(None, f"A correlation needs {MIN_ITEMS} items or more.")
    # Equal scores would give 0/0.
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return MeasureValue(None, "One of the two gave every item the same score.")
    return MeasureValue(float(correlation(first, second)))


# --- Distances -----------------------------------------------------------------------------------


def mean_absolute_error(ratings: Ratings) -> MeasureValue:
    """The mean absolute difference of an item's two scores, in points, at least 0.

        MAE = (1/N) sum_i |a_i - b_i|

    Source: AlignMMBench (its evaluator and people).
    """
    first, second = paired_ratings(ratings)
    if not len(first):
        return MeasureValue(None, NOBODY_TWICE)
    return MeasureValue(float(np.abs(first - second).mean()))


def quadratic_kappa(ratings: Ratings) -> MeasureValue:
    """Quadratic weighted kappa: agreement beyond chance, large errors counting more; at most 1.

        kappa = 1 - [ sum_i (a_i - b_i)^2 / N ] / [ sum_i sum_j (a_i - b_j)^2 / N^2 ]

    The numerator is the mean squared difference of the two raters, the denominator its expected value
    if each rater's scores were given to items at random: var a + var b + (mean a - mean b)^2. 1: they
    always agree; 0: no more than by chance. A rater who is stricter throughout has a lower kappa, and
    the same correlation. Source: Cohen (1968), Weighted kappa, with weights (i - j)^2.

    The usual definition uses a confusion matrix of whole scores. On whole scores both are equal (a test
    compares this function with scikit-learn's), but this one also takes means of raters or of
    replicates without rounding.
    """
    first, second = paired_ratings(ratings)
    if not len(first):
        return MeasureValue(None, NOBODY_TWICE)
    # If one rater uses a single score, kappa is 0 by definition, however often the other agrees.
    if min(first.var(), second.var()) < ROUNDING:
        return MeasureValue(None, "One of the two gave every item the same score.")
    by_chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    return MeasureValue(float(1 - ((first - second) ** 2).mean() / by_chance))


# --- Bands ---------------------------------------------------------------------------------------


def fuzzy_accuracy(ratings: Ratings) -> MeasureValue:
    """Fuzzy accuracy: how often scores from 1 to 10 lie in the same of four bands, a share of items.

        f = (1/N) sum_i [ band(a_i) = band(b_i) ],    bands 1-2, 3-5, 6-8, 9-10

    It is not corrected for chance. Source: AlignMMBench, 5.2 (its evaluator and people).
    """
    return _share_in_one_band(ratings, FUZZY)


def strict_accuracy(ratings: Ratings) -> MeasureValue:
    """Strict accuracy: how often scores from 1 to 10 lie in the same of seven bands, a share of items.

        s = (1/N) sum_i [ band(a_i) = band(b_i) ],    bands 1, 2, 3, 4-5, 6, 7-8, 9-10

    It is not corrected for chance. Source: AlignMMBench, 5.2.
    """
    return _share_in_one_band(ratings, STRICT)


def _share_in_one_band(ratings: Ratings, bands: Bands) -> MeasureValue:
    first, second = paired_ratings(ratings)
    if not len(first):
        return MeasureValue(None, NOBODY_TWICE)
    return MeasureValue(float((band_of(first, bands) == band_of(second, bands)).mean()))


def band_of(scores: NDArray[np.float64], bands: Bands) -> NDArray[np.int64]:
    """The number of the band that each score is in, from 1; 0 for scores below the first band."""
    return np.searchsorted([low for low, _ in bands], scores, side="right")
