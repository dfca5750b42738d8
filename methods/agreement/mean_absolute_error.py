"""Mean absolute error: how many points two raters' scores of an item are apart.

    MAE = (1/N) sum_i |a_i - b_i|

Source: AlignMMBench (its evaluator and people).
"""

import numpy as np

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, pair_of


def mean_absolute_error(ratings: Ratings) -> Measured:
    """Points between two raters, from 0 up. Raises ValueError unless there are two."""
    first, second = pair_of(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    return Measured(float(np.abs(first - second).mean()))
