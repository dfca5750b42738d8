"""Bands of scores from 1 to 10 that mean about the same, and how often two raters are in one.

    accuracy = (1/N) sum_i [ band(a_i) = band(b_i) ]

What belongs here: the bands of a score. A score between two bands, as a mean of raters or replicates
may be, belongs to the lower one: 2.5 is not yet what a 3 stands for. The bands are AlignMMBench's
(5.2), and follow the criteria of its judge.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, paired_ratings

Bands = Sequence[tuple[float, float]]
"""The lowest and the highest score of each band, ascending."""

LOWEST, HIGHEST = 1, 10
"""The scale that the bands are of."""
FUZZY: Bands = ((1, 2), (3, 5), (6, 8), (9, 10))
STRICT: Bands = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 6), (7, 8), (9, 10))


def band_of(scores: NDArray[np.float64], bands: Bands) -> NDArray[np.int64]:
    """The number of the band that each score is in, from 1; 0 below the first."""
    return np.searchsorted([low for low, _ in bands], scores, side="right")


def share_in_one_band(ratings: Ratings, bands: Bands) -> Measured:
    """Share of items on which two raters are in one band, in 0..1. Raises ValueError unless two."""
    first, second = paired_ratings(ratings)
    if not len(first):
        return Measured(None, NOBODY_TWICE)
    return Measured(float((band_of(first, bands) == band_of(second, bands)).mean()))
