"""What the three correlations have in common: when a correlation is defined.

With two items it is 1 or -1 whatever they are; with a rater who always gives the same score it is 0/0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, pair_of

MIN_ITEMS = 3

Correlation = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


def correlated(ratings: Ratings, correlation: Correlation) -> Measured:
    """The correlation of two raters' scores over the items both rated, or why there is none.

    Raises ValueError unless there are two raters.
    """
    first, second = pair_of(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    if len(first) < MIN_ITEMS:
        return Measured(None, f"A correlation needs {MIN_ITEMS} items or more.")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Measured(None, "One of the two gave every item the same score.")
    return Measured(float(correlation(first, second)))
