"""What is right without looking: a random letter, and always the most frequent letter (MMIU, Table 3).

    random        = mean over questions of 1 / number of choices
    most frequent = share of the questions whose right choice has the commonest letter

What belongs here: the letters that the contestants `baseline:random` and `baseline:most-frequent` say,
from the items of a release alone. They are where a score begins to say something. In circular
evaluation a repeated letter is right in one pass of n, and never in all.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence

from methods.choice.lettered import LETTERS, key_of
from methods.evaluation.items import Item


def random_letter(item: Item, trial: str, seed: int) -> str:
    """A letter of one of the item's choices; each pass has one of its own, the same each time."""
    return random.Random(f"{seed} {item.item_id} {trial}").choice(LETTERS[: len(item.choices)])


def most_frequent_letter(items: Sequence[Item]) -> str | None:
    """The letter of most right choices, the first of several; None where every key is held out."""
    keys = Counter(key for item in items if (key := key_of(item)))
    return min(keys, key=lambda letter: (-keys[letter], letter), default=None)


def most_frequent_letters(items: Sequence[Item], label: str | None) -> Mapping[str, str]:
    """The most frequent letter by item: among the items with its value of `label`, or among all.

    Items among which none has a key are left out.
    """
    among: dict[str, list[Item]] = {}
    for item in items:
        among.setdefault(item.labels.get(label, "") if label else "", []).append(item)
    return {
        item.item_id: letter
        for of in among.values()
        if (letter := most_frequent_letter(of))
        for item in of
    }
