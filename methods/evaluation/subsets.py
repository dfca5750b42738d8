"""The smallest subset of items that keeps the ranking of models.

    tau = (C - D) / (C + D + T)

over all pairs of models whose scores on all items differ: the subset orders C pairs in the same way and
D pairs in the opposite way, and ties T pairs (Somers' D of the subset given the whole; Kendall's tau if
nothing is tied). Two models are compared on the items on which both outcomes are known.

Items are taken greedily. The next item is the one that raises most

    sum over pairs of tanh(m / 2)        m: by how many items the better model is ahead so far

This is a smooth tau, which prefers items that separate pairs that are not separated yet. Among equal
items the more discriminating one is taken first, then one at random by seed. A subset agrees too well
with the outcomes of the models that it was chosen by. So it is also chosen on bootstrap resamples of
the models, and tested on pairs with a model outside the resample; a random subset of equal size is
tested on the same pairs. Source of the task: Polo et al. (2024), tinyBenchmarks; of held-out models:
Efron (1983), JASA 78(382).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from methods.evaluation.statistics.bootstrap import Floats
from methods.evaluation.statistics.item_analysis import discriminations

LEAST_MODELS = 4
MOST_PAIRS = 1000
"""Limit of the pairs of models that items are chosen by; a sample of this size replaces more pairs."""
_SIZES = (*range(1, 11), 15, 20, 30, 50, 75, 100, 150, 200, 300, 500)
"""The sizes of subsets. A larger subset would save little of a benchmark."""


@dataclass(frozen=True)
class ResampleSpread:
    """The mean of the resamples, and the 2.5th and 97.5th percentile."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Subset:
    """The greedy subset of one size: its items' indexes as chosen, and how well it keeps the ranking.

    `tau` is of the models that it was chosen by, `held_out` of pairs with a model that it was not
    chosen by, `random` of random subsets on the same pairs.
    """

    items: tuple[int, ...]
    tau: float
    held_out: ResampleSpread
    random: ResampleSpread


@dataclass(frozen=True)
class Subsets:
    """Subsets by increasing size; `why` says why there are none.

    Attributes:
        smallest: The index of the first subset that keeps the ranking; None if none does.
        smallest_random: The index of the size from which random subsets keep it; None if none does.
    """

    of_sizes: tuple[Subset, ...]
    smallest: int | None
    smallest_random: int | None
    why: str | None


def smallest_subset(right: Floats, *, least_tau: float, n_resamples: int, seed: int) -> Subsets:
    """Find small subsets of items that keep the ranking of the models.

    A subset keeps the ranking if its held-out mean tau, and that of all larger subsets, is at least
    `least_tau`.

    Args:
        right: Models x items: 1 right, 0 wrong, NaN unknown.
        least_tau: The least mean Kendall's tau.
        n_resamples: The number of splits for the held-out tau.
        seed: The seed.

    Returns:
        The subsets by size and the smallest size that keeps the ranking; or the reason why there is
        none.
    """
    n_models, n_items = right.shape
    if n_models < LEAST_MODELS:
        return Subsets((), None, None, f"{n_models} models are too few: it takes {LEAST_MODELS}.")
    models = np.array(list(combinations(range(n_models), 2)))
    ahead = np.nan_to_num(right[models[:, 0]] - right[models[:, 1]])
    whole = ahead.sum(axis=1)
    models, ahead = models[whole != 0], (ahead * np.sign(whole)[:, None])[whole != 0]
    if not len(models):
        return Subsets((), None, None, "All models have the same score: there is no ranking.")
    draw = np.random.default_rng(seed)
    sizes = [size for size in _SIZES if size <= n_items]
    chosen = _greedy(right, ahead, sizes[-1], draw)
    tested = list(_held_out(right, models, ahead, sizes, n_resamples, draw))
    if not tested:
        why = "No model can be held out: without one the others have the same score."
        return Subsets((), None, None, why)
    taus = _taus(ahead, chosen, sizes)
    held_out, random = (_spreads([pair[place] for pair in tested]) for place in (0, 1))
    subsets = tuple(
        Subset(tuple(map(int, chosen[:size])), float(taus[place]), held_out[place], random[place])
        for place, size in enumerate(sizes)
    )
    return Subsets(
        subsets,
        _first_that_keeps([spread.mean for spread in held_out], least_tau),
        _first_that_keeps([spread.mean for spread in random], least_tau),
        None,
    )


def _held_out(
    right: Floats,
    models: NDArray[np.int64],
    ahead: Floats,
    sizes: Sequence[int],
    n_resamples: int,
    draw: np.random.Generator,
) -> Iterator[tuple[Floats, Floats]]:
    """Yield for each resample the taus of the greedy subsets and of random ones, on held-out pairs."""
    n_models, n_items = right.shape
    for _ in range(n_resamples):
        sampled_models = np.unique(draw.integers(n_models, size=n_models))
        inside = np.isin(models, sampled_models).all(axis=1)
        if inside.all() or not inside.any():
            continue
        chosen = _greedy(right[sampled_models], ahead[inside], sizes[-1], draw)
        yield (
            _taus(ahead[~inside], chosen, sizes),
            _taus(ahead[~inside], draw.permutation(n_items), sizes),
        )


def _greedy(
    right: Floats, ahead: Floats, n_items: int, draw: np.random.Generator
) -> NDArray[np.int64]:
    """Choose `n_items` items greedily; return their indexes in the order of choice."""
    if len(ahead) > MOST_PAIRS:
        ahead = ahead[draw.choice(len(ahead), MOST_PAIRS, replace=False)]
    telling = np.round(np.nan_to_num(discriminations(right)), 9)
    # The first of several items with equal gain is taken, so the order of the columns decides.
    order = np.lexsort((draw.permutation(right.shape[1]), -telling))
    better, worse = (ahead[:, order] > 0).astype(float), (ahead[:, order] < 0).astype(float)
    margin = np.zeros(len(ahead))
    left = np.ones(len(order), dtype=bool)
    chosen = np.zeros(n_items, dtype=np.int64)
    for place in range(n_items):
        current = np.tanh(margin / 2)
        gain = (np.tanh((margin + 1) / 2) - current) @ better
        gain += (np.tanh((margin - 1) / 2) - current) @ worse
        # Rounded, so that sums in another order do not decide between equal items.
        best = int(np.argmax(np.where(left, np.round(gain, 9), -np.inf)))
        left[best] = False
        chosen[place] = order[best]
        margin += better[:, best] - worse[:, best]
    return chosen


def _taus(ahead: Floats, chosen: NDArray[np.int64], sizes: Sequence[int]) -> Floats:
    """Compute tau for the first items of `chosen`, for each size."""
    margins = ahead[:, chosen[: sizes[-1]]].cumsum(axis=1)
    taus: Floats = np.sign(margins[:, np.array(sizes) - 1]).mean(axis=0)
    return taus


def _spreads(taus: Sequence[Floats]) -> list[ResampleSpread]:
    low, high = np.percentile(taus, [2.5, 97.5], axis=0)
    return [
        ResampleSpread(*map(float, figures))
        for figures in zip(np.mean(taus, axis=0), low, high, strict=True)
    ]


def _first_that_keeps(taus: Sequence[float], least_tau: float) -> int | None:
    first = None
    for place in reversed(range(len(taus))):
        if taus[place] < least_tau:
            break
        first = place
    return first
