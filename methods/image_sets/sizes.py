"""How many sets of which size: shares as whole numbers, and what clusters have room for.

What belongs here: arithmetic on sizes. Shares become whole numbers by Webster's (Sainte-Lague's)
method, one set after the other, so that what was made before counts and a size that has come to its
end leaves its place to the others in their shares.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def apportion(weights: Mapping[int, float], n_sets: int) -> Counter[int]:
    """`n_sets` sets in shares as near to the weights as whole numbers allow."""
    return seats(weights, Counter(), n_sets, dict.fromkeys(weights, math.inf))


def seats(
    weights: Mapping[int, float],
    made: Mapping[int, int],
    n_sets: int | None,
    room: Mapping[int, float],
) -> Counter[int]:
    """Sets of each size to add to those `made`: at most `n_sets`, None for as many as there is room.

    `room[s]` is the number of images that sets of s images or more can have together, in all. Each
    set goes to the size with the largest weight / (2 made + 1), ties to the smaller size. A size for
    which there is no more room gets no more. Cost: S a set, S the number of sizes.
    """
    added: Counter[int] = Counter()
    taken = dict.fromkeys(weights, 0)
    open_sizes = [size for size in sorted(weights) if room[size] >= size]
    while open_sizes and (n_sets is None or added.total() < n_sets):
        size = max(
            open_sizes,
            key=lambda size: weights[size] / (2 * (made.get(size, 0) + added[size]) + 1),
        )
        # What a set takes is gone for sets of its size and for all smaller ones.
        within = [least for least in weights if least <= size]
        if any(taken[least] + size > room[least] for least in within):
            open_sizes.remove(size)
            continue
        added[size] += 1
        for least in within:
            taken[least] += size
    return added


class Packing:
    """How much of a number of entries sets of certain sizes can use: all of 10 by 5 + 5, 9 by 3s."""

    def __init__(self, sizes: Sequence[int]):
        self._divisor = math.gcd(*sizes)
        # From here on only the divisor counts (the number below which it may not is under max^2).
        self._table = [0] * (max(sizes) ** 2 + 1)
        for number in range(len(self._table)):
            rests = [self._table[number - size] for size in sizes if size <= number]
            self._table[number] = min(rests, default=number)

    def left_over(self, number: int) -> int:
        """How many of `number` entries remain at best."""
        if number < len(self._table):
            return self._table[number]
        return number % self._divisor

    def used(self, number: int) -> int:
        """How many of `number` entries stand in sets at best."""
        return number - self.left_over(number)


def most_sets(counts: Counts, size: float) -> int:
    """The most sets of `size` entries when each takes at most one of a group, `counts` a group's own.

    t sets can have at most min(count, t) of a group, which is enough exactly as long as these sum up
    to t * size.
    """
    low, high = 0, int(counts.sum() // size)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle).sum() >= middle * size:
            low = middle
        else:
            high = middle - 1
    return low
