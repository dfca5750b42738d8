"""Krippendorff's alpha: agreement of any number of raters, with ratings missing anywhere.

    alpha = 1 - (n - 1) sum_ck o_ck d_ck / sum_ck n_c n_k d_ck
    o_ck  = sum_i n_ic (n_ik - [c = k]) / (n_i - 1)

n_ic of the n_i ratings of item i are c; o is the coincidence matrix with margins n_c and total n. The
difference d_ck of two values is, for labels (nominal), 1 unless c = k; for ranks (ordinal, c < k),
(n_c/2 + n_(c+1) + ... + n_(k-1) + n_k/2)^2. Source: Krippendorff (2011), Computing Krippendorff's
alpha-reliability.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, counts_of, rated_twice

Level = Literal["nominal", "ordinal"]


def krippendorff_alpha(ratings: Ratings, level: Level) -> Measured:
    """Alpha over the items with two ratings or more."""
    counts = counts_of(rated_twice(ratings))
    if not len(counts):
        return Measured(None, NOBODY_TWICE)
    if counts.shape[1] == 1:
        return Measured(None, "Every rating is the same.")
    weights = counts / (counts.sum(axis=1, keepdims=True) - 1)
    coincidences = weights.T @ counts - np.diag(weights.sum(axis=0))
    margins = coincidences.sum(axis=1)
    difference = _DIFFERENCES[level](margins)
    observed = (coincidences * difference).sum()
    expected = (np.outer(margins, margins) * difference).sum()
    return Measured(float(1 - (margins.sum() - 1) * observed / expected))


def _nominal(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1 - np.eye(len(margins))


def _ordinal(margins: NDArray[np.float64]) -> NDArray[np.float64]:
    # The middle of each value's ranks: the sum above is the distance between two middles.
    middles = np.cumsum(margins) - margins / 2
    return (middles[:, None] - middles[None, :]) ** 2


_DIFFERENCES = {"nominal": _nominal, "ordinal": _ordinal}
