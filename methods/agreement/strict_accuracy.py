"""Strict accuracy: how often two raters' scores lie in the same of seven bands.

    s = (1/N) sum_i [ band(a_i) = band(b_i) ],    bands 1, 2, 3, 4-5, 6, 7-8, 9-10

Each band is one of the criteria that the judge scores by. For scores from 1 to 10; a score between two
bands is in the lower one (`bands.py`). It is not corrected for chance. Source: AlignMMBench, 5.2.
"""

from methods.agreement.bands import STRICT, share_in_one_band
from methods.agreement.measured import Measured, Ratings


def strict_accuracy(ratings: Ratings) -> Measured:
    """Share of items, in 0..1. Raises ValueError unless there are two raters."""
    return share_in_one_band(ratings, STRICT)
