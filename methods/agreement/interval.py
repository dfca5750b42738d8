"""95 % intervals of a measure: the bootstrap over image sets.

Items of one image set (turns of a dialogue, answers of several models) are not independent: the
bootstrap draws whole sets, with replacement, and takes the 2.5th and 97.5th percentile of the measure.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from methods.agreement.measured import Measure, Ratings

N_RESAMPLES = 1000

MeasureOfDraws = Callable[[Ratings, NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
"""A measure of all draws at once, as `cohen_kappa_of_draws` is: NaN where it is not defined."""


def interval(
    measure: Measure,
    ratings: Ratings,
    clusters: Sequence[str],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
    of_draws: MeasureOfDraws | None = None,
) -> tuple[float, float] | None:
    """(low, high) around the measure's value; None where it has no value.

    `clusters` names the image set of each item. Draws on which the measure is not defined (all drawn
    items have one label) are left out. With one set there is nothing to draw: the interval is the
    value itself. The order of items does not matter. `of_draws`, if given, is used for the draws: the
    same measure, faster.
    """
    value = measure(ratings).value
    if value is None:
        return None
    # Sorted, because the seed draws sets by their position.
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
    members = [np.flatnonzero(cluster_of == each) for each in range(draws.shape[1])]
    values = (
        measure(ratings[np.concatenate([members[each] for each in draw])]).value for draw in draws
    )
    return np.array([np.nan if each is None else each for each in values])
