"""Seeded random choices of the mock server: deterministic, by a hash of seed values and a key."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class SeededChoice:
    """Choices that only depend on the seed values and on the key of each choice.

    Seed values are hashed as text: renaming `image_facts.Facts` or one of its
    fields changes every choice.
    """

    def __init__(self, *seed: object) -> None:
        joined = "\x1f".join(str(value) for value in seed)
        self._seed = hashlib.sha256(joined.encode("utf-8", "surrogatepass")).digest()

    def number(self, key: str) -> float:
        """Return a pseudo-random number in [0, 1) for the key."""
        digest = hashlib.sha256(self._seed + key.encode()).digest()
        return int.from_bytes(digest[:6], "big") / float(1 << 48)

    def chance(self, key: str, probability: float) -> bool:
        """Decide with a probability.

        Args:
            key: The key of the decision.
            probability: The probability.
        """
        return self.number(key) < probability

    def choice(self, key: str, options: Sequence[T]) -> T:
        """Select one of the options.

        Args:
            key: The key of the decision.
            options: The options.
        """
        return options[int(self.number(key) * len(options))]

    def order(self, key: str, options: Sequence[T]) -> list[T]:
        """Shuffle the options.

        Args:
            key: The key of the decision.
            options: The options.
        """
        keyed = [(self.number(f"{key}/{index}"), index) for index in range(len(options))]
        return [options[index] for _, index in sorted(keyed)]
