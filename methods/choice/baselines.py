"""What is right without looking: a random letter, and always the most frequent letter (MMIU, Table 3).

    random        = mean over questions of 1 / number of choices
    most frequent = share of the questions whose right choice has the commonest letter

What belongs here: both, from the items of a release alone. They are where a score begins to say
something. In circular evaluation a repeated letter is right in one pass of n, and never in all.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from methods.choice.lettered import key_of
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
