"""Items in lists of a given size: `itertools.batched`, which Python has only since 3.12."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int | None) -> Iterator[list[T]]:
    """Lists of `size` items, the last one shorter; None: one list of them all."""
    waiting = iter(items)
    while portion := list(islice(waiting, size)):
        yield portion
