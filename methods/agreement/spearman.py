"""Spearman's correlation: how well two raters put the items in the same order.

    rho = Pearson's r of the ranks; items with the same score share the mean of their ranks

Source: MMDU, Table 4 (judge and people); AlignMMBench (its evaluator and people).
"""

from methods.agreement.correlated import correlated
from methods.agreement.measured import Measured, Ratings


def spearman(ratings: Ratings) -> Measured:
    """rho of two raters, in -1..1. Raises ValueError unless there are two."""
    from scipy.stats import spearmanr

    return correlated(ratings, lambda first, second: spearmanr(first, second).statistic)
