"""Fleiss' kappa: agreement of any number of raters on labels, beyond chance.

    kappa = (P - P_e) / (1 - P_e),    P_e = sum_c p_c^2

P is the raw agreement over items (`raw_agreement.py`), p_c the share of all ratings that are c. Every
item has the same number of ratings, which need not be by the same people. Source: Fleiss (1971),
Measuring nominal scale agreement among many raters.
"""

import numpy as np

from methods.agreement.measured import NOBODY_TWICE, Measured, Ratings, counts_of, rated_twice
from methods.agreement.raw_agreement import raw_agreement


def fleiss_kappa(ratings: Ratings) -> Measured:
    """Kappa over the items with two ratings or more, which must all have equally many."""
    counts = counts_of(rated_twice(ratings))
    if not len(counts):
        return Measured(None, NOBODY_TWICE)
    n_ratings = np.unique(counts.sum(axis=1))
    if len(n_ratings) > 1:
        few, many = n_ratings[0], n_ratings[-1]
        return Measured(
            None, f"Items have {few} to {many} ratings each; it is defined for equally many."
        )
    shares = counts.sum(axis=0) / counts.sum()
    if len(shares) == 1:
        return Measured(None, "Every item was given the same one label.")
    observed, expected = raw_agreement(ratings).value, float((shares**2).sum())
    assert observed is not None
    return Measured((observed - expected) / (1 - expected))
