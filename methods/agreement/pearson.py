"""Pearson's correlation: how close one rater's scores are to a linear function of the other's.

    r = sum_i (a_i - mean a)(b_i - mean b) / sqrt( sum_i (a_i - mean a)^2  sum_i (b_i - mean b)^2 )

Source: MMDU, Table 4 (judge and people); AlignMMBench (its evaluator and people).
"""

from methods.agreement.correlated import correlated
from methods.agreement.measured import Measured, Ratings


def pearson(ratings: Ratings) -> Measured:
    """r of two raters, in -1..1. Raises ValueError unless there are two."""
    from scipy.stats import pearsonr

    return correlated(ratings, lambda first, second: pearsonr(first, second).statistic)
