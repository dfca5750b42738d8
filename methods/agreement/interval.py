"""95 % intervals of a measure: the bootstrap over image sets.

Items of one image set (turns of a dialogue, answers of several models) are not independent: the
bootstrap draws whole sets, with replacement, and takes the 2.5th and 97.5th percentile of the measure.
"""

from collections.abc import Sequence

import numpy as np

from methods.agreement.measured import Measure, Ratings

N_RESAMPLES = 1000


def interval(
    measure: Measure,
    ratings: Ratings,
    clusters: Sequence[str],
    *,
    seed: int,
    n_resamples: int = N_RESAMPLES,
) -> tuple[float, float] | None:
    """(low, high) around the measure's value; None where it has no value.

    `clusters` says of each item to which set it belongs. Resamples on which the measure is not
    defined (all drawn items have one label) are left out. With one set there is nothing to resample:
    the interval is the value itself. The order of items changes nothing.
    """
    value = measure(ratings).value
    if value is None:
        return None
    # Sorted, because the seed draws sets by their place.
    _, place = np.unique(np.array(clusters), return_inverse=True)
    members = [np.flatnonzero(place == each) for each in range(place.max() + 1)]
    generator = np.random.default_rng(seed)
    drawn = (
        measure(ratings[np.concatenate([members[each] for each in draw])]).value
        for draw in generator.integers(0, len(members), size=(n_resamples, len(members)))
    )
    found = [value, *(each for each in drawn if each is not None)]
    low, high = np.percentile(found, [2.5, 97.5])
    return min(float(low), value), max(float(high), value)
