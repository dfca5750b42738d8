"""The result of a measure, and what measures share: pairs and counts of ratings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ratings = NDArray[np.float64]
"""Items x raters: scores, or numbers that stand for labels; NaN where a rater gave none."""

NOBODY_TWICE = "No item was rated by two."
"""The reason where no two raters have an item in common."""


@dataclass(frozen=True)
class Measured:
    """A measure's value; None with the reason where it is not defined."""

    value: float | None
    reason: str | None = None


Measure = Callable[[Ratings], Measured]


def rated_twice(ratings: Ratings) -> Ratings:
    """The rows of items with two ratings or more; the others say nothing about agreement."""
    return ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]


def paired_ratings(ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both raters' ratings of the items that both have rated. Raises ValueError unless two raters."""
    if ratings.shape[1] != 2:
        raise ValueError(f"This measure is for two raters, not {ratings.shape[1]}.")
    both = rated_twice(ratings)
    return both[:, 0], both[:, 1]


def counts_of(ratings: Ratings) -> NDArray[np.int64]:
    """Counts of each value for each item: items x values that occur, values ascending."""
    values = np.unique(ratings[~np.isnan(ratings)])
    return (ratings[:, :, None] == values).sum(axis=1)
