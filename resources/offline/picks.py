"""Deterministic choices.

The only source of variety in the offline server (which stands in for a model and never calls
one) belongs here: a choice is a hash of what was asked and of a key, never of the order of calls.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Picker:
    """Choices that depend only on the seed values given and on each choice's own key."""

    def __init__(self, *seed: object) -> None:
        joined = "\x1f".join(str(value) for value in seed)
        self._seed = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()

    def number(self, key: str) -> float:
        """Return a number in [0, 1) for the key."""
        digest = hashlib.sha256(self._seed + key.encode()).digest()
        return int.from_bytes(digest[:6], "big") / float(1 << 48)

    def chance(self, key: str, probability: float) -> bool:
        """Say yes for about the given share of seeds."""
        return self.number(key) < probability

    def choice(self, key: str, options: Sequence[T]) -> T:
        """Return one of the options."""
        return options[int(self.number(key) * len(options))]

    def order(self, key: str, options: Sequence[T]) -> list[T]:
        """Return all the options in an order of the key's own."""
        keyed = [(self.number(f"{key}/{index}"), index) for index in range(len(options))]
        return [options[index] for _, index in sorted(keyed)]
