"""Batches of items: `itertools.batched`, which Python has only since 3.12."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int | None) -> Iterator[list[T]]:
    """Divide items into batches.

    Args:
        items: The items.
        size: The size of a batch; None puts all items into one.

    Yields:
        Lists of `size` items; the last list may be shorter.
    """
    waiting = iter(items)
    while portion := list(islice(waiting, size)):
        yield portion
