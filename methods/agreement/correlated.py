"""What the three correlations share: when a correlation is defined.

With two items it is always 1 or -1; with a rater who gives every item the same score it is 0/0.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, paired_ratings

MIN_ITEMS = 3

Correlation = Callable[[NDArray[np.float64], NDArray[np.float64]], float]


def correlated(ratings: Ratings, correlation: Correlation) -> Measured:
    """The correlation of two raters' scores over the items both rated, or why there is none.

    Raises ValueError unless there are two raters.
    """
    first, second = paired_ratings(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    if len(first) < MIN_ITEMS:
        return Measured(None, f"A correlation needs {MIN_ITEMS} items or more.")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return Measured(None, "One of the two gave every item the same score.")
    return Measured(float(correlation(first, second)))
