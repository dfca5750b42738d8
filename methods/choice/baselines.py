"""What is right without looking: a random letter, and always the most frequent letter (MMIU, Table 3).

    random        = mean over questions of 1 / number of choices
    most frequent = share of the questions whose right choice has the commonest letter

What belongs here: both, from the items of a release alone, and the letters that the contestants
`baseline:random` and `baseline:most-frequent` say, whose scores are to come near them. They are where a
score begins to say something. In circular evaluation a repeated letter is right in one pass of n, and
never in all.
"""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

from methods.choice.lettered import LETTERS, key_of
from methods.evaluation.items import Item


def random_accuracy(items: Sequence[Item]) -> float | None:
    """Percent of questions that a random letter is right in; None without any."""
    shares = [1 / len(item.choices) for item in items if item.choices]
    return 100 * fmean(shares) if shares else None


def random_circular(items: Sequence[Item]) -> float | None:
    """Percent of questions that random letters are right in in every circular pass.

    n choices have n passes: 1 / n^n, 0.4 % of questions with four choices.
    """
    shares = [len(item.choices) ** -len(item.choices) for item in items if item.choices]
    return 100 * fmean(shares) if shares else None


def random_letter(item: Item, trial: str, seed: int) -> str:
    """A letter of one of the item's choices; each pass has one of its own, the same each time."""
    return random.Random(f"{seed} {item.item_id} {trial}").choice(LETTERS[: len(item.choices)])


def most_frequent_letter(items: Sequence[Item]) -> str | None:
    """The letter of most right choices, the first of several; None where every key is held out."""
    keys = Counter(key for item in items if (key := key_of(item)))
    return min(keys, key=lambda letter: (-keys[letter], letter), default=None)


def most_frequent_accuracy(items: Sequence[Item]) -> float | None:
    """Percent of questions with a key that are right if every answer is the most frequent letter.

    The paper takes the letter of each task by itself: call it with the items of a task.
    """
    keys = [key for item in items if (key := key_of(item))]
    letter = most_frequent_letter(items)
    return 100 * fmean(key == letter for key in keys) if keys else None


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
