"""Placing choices under letters: which letter is right is drawn, and never left to a model.

What belongs here: the order of the choices of items that are built. The orders that items are asked in
are `lettered.py`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from methods.choice.lettered import LETTERS
from methods.ids import content_id


class ToPlace(Protocol):
    """A tuple with the right choice and the wrong ones, and what else the place is drawn by."""

    @property
    def answer(self) -> str:
        """The right choice."""

    @property
    def distractors(self) -> tuple[str, ...]:
        """The wrong choices."""


class Placed(NamedTuple):
    """The choices of an item in order of letter, and the letter of the right one."""

    choices: tuple[str, ...]
    key: str


def placed(
    items: Sequence[ToPlace], seed: int, kept: Mapping[int, str] | None = None
) -> list[Placed]:
    """The choices of each item in an order of their own.

    Of items with equally many choices, each letter is the right one equally often, up to one, among the
    first n for every n. Which one is drawn by seed from what was written, the right choice among it.
    Who knows the seed can rule some choices out: where keys are held out, it is held out, too. `kept`
    has the letters that items have already, by their place in `items`: they are counted first and stay.
    """
    kept = kept or {}
    used: dict[int, Counter[str]] = {}
    for place, key in kept.items():
        _counts(used, items[place])[key] += 1
    found = []
    for place, item in enumerate(items):
        counts = _counts(used, item)
        if place in kept:
            key = kept[place]
        else:
            fewest = min(counts.values())
            rarest = [letter for letter in counts if counts[letter] == fewest]
            key = min(rarest, key=partial(content_id, seed, item))
            counts[key] += 1
        choices = sorted(item.distractors, key=partial(content_id, seed, item))
        choices.insert(LETTERS.index(key), item.answer)
        found.append(Placed(tuple(choices), key))
    return found


def _counts(used: dict[int, Counter[str]], item: ToPlace) -> Counter[str]:
    n_choices = 1 + len(item.distractors)
    return used.setdefault(n_choices, Counter(dict.fromkeys(LETTERS[:n_choices], 0)))
