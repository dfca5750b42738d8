"""Matrices of ratings, their pairs and counts, and bootstrap intervals of agreement measures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ratings = NDArray[np.float64]
"""Items x raters: scores, or numbers that stand for labels; NaN if a rater gave none."""

NOBODY_TWICE = "No item was rated by two."
"""The reason if no two raters have an item in common."""


@dataclass(frozen=True)
class MeasureValue:
    """The value of a measure; None with the reason if it is not defined."""

    value: float | None
    reason: str | None = None


Measure = Callable[[Ratings], MeasureValue]

N_RESAMPLES = 1000

MeasureOfDraws = Callable[[Ratings, NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""A measure for all draws at once, such as `cohen_kappa_of_draws`: NaN if it is not defined."""


def with_two_ratings(ratings: Ratings) -> Ratings:
    """Keep the items with two ratings or more; the others say nothing about agreement."""
    return ratings[(~np.isnan(ratings)).sum(axis=1) >= 2]


def paired_ratings(ratings: Ratings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ratings of two raters on items that both rated. Raises ValueError unless there are two."""
    if ratings.shape[1] != 2:
        raise ValueError(f"This measure is for two raters, not {ratings.shape[1]}.")
    both = with_two_ratings(ratings)
    return both[:, 0], both[:, 1]


def counts_of(ratings: Ratings) -> NDArray[np.int64]:
    """Count each value for each item: items x values that occur, values ascending."""
    values = np.unique(ratings[~np.isnan(ratings)])
    return (ratings[:, :, None] == values).sum(axis=1)


def interval(
    measure: Measure,
    ratings: Ratings,
    clusters: Sequence[str],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    of_draws: MeasureOfDraws | None = None,
) -> tuple[float, float] | None:
    """Compute the 95 % interval of a measure by a cluster bootstrap.

    Items of one image set (turns of a dialogue, answers of several models) are not independent. The
    bootstrap resamples whole sets with replacement, and takes the 2.5th and 97.5th percentiles.
    Resamples for which the measure is not defined (all items have one label) are left out. With one
    set, the interval is the value itself. The order of items does not matter.

    Args:
        measure: The measure.
        ratings: The ratings, shape (items, raters).
        clusters: The image set of each item.
        seed: The seed of the resampling.
        n_resamples: The number of resamples.
        of_draws: The same measure for many resamples at once, which is faster.

    Returns:
        The low and the high end; None if the measure has no value.
    """
    value = measure(ratings).value
    if value is None:
        return None
    # Names are sorted, because the seed draws sets by their position.
    _, cluster_of = np.unique(np.array(clusters), return_inverse=True)
    n_clusters = int(cluster_of.max()) + 1
    draws = np.random.default_rng(seed).integers(0, n_clusters, size=(n_resamples, n_clusters))
    if of_draws is None:
        values = _values_of_draws(measure, ratings, cluster_of, draws)
    else:
        values = of_draws(ratings, cluster_of, draws)
    defined = [value, *values[~np.isnan(values)]]
    low, high = np.percentile(defined, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)


def _values_of_draws(
    measure: Measure, ratings: Ratings, cluster_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> NDArray[np.float64]:
    members = [np.flatnonzero(cluster_of == cluster) for cluster in range(draws.shape[1])]
    values = (
        measure(ratings[np.concatenate([members[cluster] for cluster in draw])]).value
        for draw in draws
    )
    return np.array([np.nan if value is None else value for value in values])
