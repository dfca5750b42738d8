"""Kendall's tau-b: of two items, how often both raters put the same one first.

    tau_b = (C - D) / sqrt( (C + D + T_a) (C + D + T_b) )

over all pairs of items: C in the same order, D in opposite orders, T_a tied for rater a alone, T_b for
b alone. Source: MMDU, Table 4 (judge and people); AlignMMBench (its evaluator and people).
"""

from methods.agreement.correlated import correlated
from methods.agreement.measured import Measured, Ratings


def kendall(ratings: Ratings) -> Measured:
    """tau-b of two raters, in -1..1. Raises ValueError unless there are two."""
    from scipy.stats import kendalltau

    # `method` only affects the p-value, which is not used; the asymptotic one is the fastest.
    return correlated(
        ratings, lambda first, second: kendalltau(first, second, method="asymptotic").statistic
    )
