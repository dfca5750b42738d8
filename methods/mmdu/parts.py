"""Questions in parts whose answers fit into one reply (MMDU, Figure 8, asks for 500 words an answer).

What belongs here: how many answers fit, and dividing. What a word counts in tokens says the caller.
"""

import math
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def even_parts(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """`items` in their order, in the fewest parts of at most `most` items, of nearly equal size.

    Ten items of which four fit are parts of 4, 3 and 3.
    """
    if not items:
        return []
    n_parts = math.ceil(len(items) / max(most, 1))
    ends = [math.ceil(len(items) * part / n_parts) for part in range(n_parts + 1)]
    return [items[start:end] for start, end in zip(ends, ends[1:], strict=False)]


def halves(items: Sequence[T]) -> list[Sequence[T]]:
    """`items` in two parts; none where there is only one item, which has no smaller part."""
    return even_parts(items, math.ceil(len(items) / 2)) if len(items) > 1 else []


def that_fit(tokens_each: int, limit: int) -> int:
    """How many texts of `tokens_each` tokens a reply of `limit` tokens holds; at least one is asked."""
    return max(1, limit // tokens_each)
