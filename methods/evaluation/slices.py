"""Slices of scores: the labels of items and properties of turns by which scores are split.

A benchmark's own labels (category, task, language) are in `release.items`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from methods.evaluation.items import Item
from methods.evaluation.missing_images import IMAGE_PATH
from methods.words import n_words

_MENTIONED = re.compile(r"<image-(\d{1,4})>", re.IGNORECASE)
TURN, QUESTION, IMAGES_SO_FAR, WORDS_SO_FAR = "turn", "question", "images so far", "words so far"
TURN_LABELS = (TURN, QUESTION, IMAGES_SO_FAR, WORDS_SO_FAR)
"""Labels that can differ between the turns of one item."""
MOST_VALUES = 100
"""A label with more values, such as an id, does not split scores. ConvBench has 79 task types."""
CHOICES = "choices"
"""The label with the number of choices of a multiple-choice item."""


def labels_by_turn(item: Item) -> dict[int, dict[str, str]]:
    """Return the labels of each turn of an item in addition to the item's own labels, which take
    precedence.

    `turn` is the number of the turn. `question` tells whether the question is about one image, several
    or none: images that enter with the turn or that it names as `<image-i>`. `images so far` and `words
    so far` are ranges; words are those of questions, the same for every model. `choices` is the number
    of choices.
    """
    offered = {CHOICES: str(len(item.choices))} if item.choices else {}
    labels = {}
    n_images = n_so_far = 0
    for turn in item.turns:
        n_images += len(turn.image_positions)
        n_so_far += n_words(turn.question)
        named = {int(number) for number in _MENTIONED.findall(turn.question)}
        labels[turn.turn] = {
            TURN: str(turn.turn),
            QUESTION: _how_many(len(named | set(turn.image_positions))),
            IMAGES_SO_FAR: _range(n_images, (0, 1, 2, 5, 10)),
            WORDS_SO_FAR: _range(n_so_far, (50, 200, 500, 1000)),
            **offered,
            **item.labels,
        }
    return labels


def with_pairs(labels: Mapping[str, str], pairs: Iterable[tuple[str, ...]]) -> dict[str, str]:
    """Add labels that combine two labels, such as `task, answerable`.

    Args:
        labels: The labels.
        pairs: The names of labels to combine.

    Returns:
        The labels.
    """
    together = {
        ", ".join(pair): ", ".join(labels[label] for label in pair)
        for pair in pairs
        if len(pair) > 1 and all(label in labels for label in pair)
    }
    return {**labels, **together}


def tells_kinds(label: str, n_values: int) -> bool:
    """Tell whether scores are split by a label: its values are kinds of items, not single items.

    Args:
        label: The name of the label.
        n_values: The number of its values.

    Returns:
        True if scores are split by it.
    """
    return label != IMAGE_PATH and n_values <= MOST_VALUES


def abilities_above(items: Sequence[Item], abilities: Sequence[str]) -> dict[str, str]:
    """Find the ability that each of the finest abilities is part of.

    Args:
        items: The items with their labels.
        abilities: The labels from the coarsest level to the finest.

    Returns:
        The value of the last but one label by the value of the last; the most frequent one if items
        differ. Empty if there is only one level.
    """
    if len(abilities) < 2:
        return {}
    above, finest = abilities[-2:]
    counts: dict[str, Counter[str]] = {}
    for item in items:
        if finest in item.labels and above in item.labels:
            counts.setdefault(item.labels[finest], Counter())[item.labels[above]] += 1
    return {value: min(n, key=lambda name: (-n[name], name)) for value, n in counts.items()}


def _how_many(n_images: int) -> str:
    return "no image" if n_images == 0 else "one image" if n_images == 1 else "several images"


def _range(number: int, ends: Sequence[int]) -> str:
    """The name of the range that a number is in: `3-5` for 3 to 5, `over 10`."""
    start = 0
    for end in ends:
        if number <= end:
            return str(end) if start == end else f"{start}-{end}"
        start = end + 1
    return f"over {ends[-1]}"
