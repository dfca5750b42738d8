"""Quadratic weighted kappa: agreement of two raters' scores beyond chance, large errors counting more.

    kappa = 1 - sum_i (a_i - b_i)^2 / N  :  sum_i sum_j (a_i - b_j)^2 / N^2

The numerator is what they differ by, the denominator what they would if each kept its scores and gave
them to items at random: var a + var b + (mean a - mean b)^2. 1: they always agree; 0: no more than by
chance. A rater who is stricter throughout has a lower kappa, and the same correlation. Source: Cohen
(1968), Weighted kappa, with weights (i - j)^2.

The usual form has a confusion matrix of whole scores. This one is equal to it there (a test compares it
with scikit-learn's), and takes means of raters or of replicates as they are, without rounding.
"""

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, paired_ratings

ROUNDING = 1e-18
"""Square of a difference that is none."""


def quadratic_kappa(ratings: Ratings) -> Measured:
    """Kappa of two raters, at most 1. Raises ValueError unless there are two."""
    first, second = paired_ratings(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    by_chance = first.var() + second.var() + (first.mean() - second.mean()) ** 2
    # Means of the same scores may differ by a rounding.
    if by_chance < ROUNDING:
        return Measured(None, "Both gave every item the same one score.")
    return Measured(float(1 - ((first - second) ** 2).mean() / by_chance))
