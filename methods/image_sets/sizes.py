"""How many sets of which size: apportionment of shares to whole numbers, within the clusters' capacity.

What belongs here: arithmetic on set sizes. Apportionment is Webster's (Sainte-Lague's) method, one set
at a time: existing sets count, and a size without capacity leaves its sets to the others by their
shares.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


def apportion(weights: Mapping[int, float], n_sets: int) -> Counter[int]:
    """`n_sets` sets in shares as near to the weights as whole numbers allow."""
    return apportion_more(weights, Counter(), n_sets, dict.fromkeys(weights, math.inf))


def apportion_more(
    weights: Mapping[int, float],
    made: Mapping[int, int],
    n_sets: int | None,
    capacity: Mapping[int, float],
) -> Counter[int]:
    """Sets of each size to add to those `made`: at most `n_sets`, or as many as fit if None.

    `capacity[s]` is the total number of images that sets of s images or more can have. Each set goes to
    the size with the largest weight / (2 made + 1), ties to the smaller size. A size without capacity
    gets no more. Cost: S per set, where S is the number of sizes.
    """
    added: Counter[int] = Counter()
    used = dict.fromkeys(weights, 0)
    open_sizes = [size for size in sorted(weights) if capacity[size] >= size]
    while open_sizes and (n_sets is None or added.total() < n_sets):
        size = max(
            open_sizes,
            key=lambda size: weights[size] / (2 * (made.get(size, 0) + added[size]) + 1),
        )
        # A set uses capacity of its own size and of all smaller sizes.
        limited = [least for least in weights if least <= size]
        if any(used[least] + size > capacity[least] for least in limited):
            open_sizes.remove(size)
            continue
        added[size] += 1
        for least in limited:
            used[least] += size
    return added


class Packing:
    """How many of n entries sets of the given sizes can use at best: all of 10 by 5 + 5, 9 by 3s."""

    def __init__(self, sizes: Sequence[int]):
        self._divisor = math.gcd(*sizes)
        # Beyond the table only the divisor matters: the Frobenius number of the sizes is below max^2.
        self._table = [0] * (max(sizes) ** 2 + 1)
        for number in range(len(self._table)):
            rests = [self._table[number - size] for size in sizes if size <= number]
            self._table[number] = min(rests, default=number)

    def left_over(self, number: int) -> int:
        """How many of `number` entries remain unused at best."""
        if number < len(self._table):
            return self._table[number]
        return number % self._divisor

    def used(self, number: int) -> int:
        """How many of `number` entries are in sets at best."""
        return number - self.left_over(number)


def max_sets(counts: Counts, size: float) -> int:
    """The most sets of `size` entries that take at most one entry of each group.

    `counts` are the groups' numbers of entries. t sets can take at most min(count, t) of a group, and
    they exist if and only if these sum up to t * size or more.
    """
    low, high = 0, int(counts.sum() // size)
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(counts, middle).sum() >= middle * size:
            low = middle
        else:
            high = middle - 1
    return low
