"""Mean absolute error: the mean difference in points between two raters' scores of an item.

    MAE = (1/N) sum_i |a_i - b_i|

Source: AlignMMBench (its evaluator and people).
"""

import numpy as np

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, paired_ratings


def mean_absolute_error(ratings: Ratings) -> Measured:
    """Points between two raters, from 0 up. Raises ValueError unless there are two."""
    first, second = paired_ratings(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    return Measured(float(np.abs(first - second).mean()))
