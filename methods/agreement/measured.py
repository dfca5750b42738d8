"""What a measure gives: a number, or why there is none."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ratings = NDArray[np.float64]
"""Items x raters: scores, or numbers that stand for labels; NaN where a rater gave none."""

NOBODY_TWICE = "No item was rated by two."
"""A rater alone agrees with nobody."""


@dataclass(frozen=True)
class Measured:
    """A measure's value; None with the reason where it is not defined."""

    value: float | None
    reason: str | None = None


Measure = Callable[[Ratings], Measured]


def rated_twice(ratings: Ratings) -> Ratings:
    """The items that two raters or more have rated: the others say nothing about agreement."""
    return ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]


def pair_of(ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both raters' ratings of the items that both have rated. Raises ValueError unless two raters."""
    if ratings.shape[1] != 2:
        raise ValueError(f"This measure is for two raters, not {ratings.shape[1]}.")
    both = rated_twice(ratings)
    return both[:, 0], both[:, 1]


def counts_of(ratings: Ratings) -> NDArray[np.int64]:
    """How often each value was given to each item: items x values that occur, values ascending."""
    values = np.unique(ratings[~np.isnan(ratings)])
    return (ratings[:, :, None] == values).sum(axis=1)
