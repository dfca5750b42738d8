"""Statistics of a release: turns, images, words, tokens, kinds of questions, labels.

MMDU shows them in Table 1 (turns, images, tokens, lengths), Figure 4 (distributions) and Figure 11
(categories).
"""

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

from methods.evaluation.items import Item
from methods.evaluation.slices import labels_by_turn, tells_kinds
from methods.words import n_words

MAX_BINS = 12
ITEM = "item"
TOKEN_ENDS = (4_000, 8_000, 12_001)
TOKEN_CLASSES = ("under 4k", "4k to 8k", "8k to 12k", "over 12k")
"""Classes of items by their number of tokens (MMDU, Figure 4). `TOKEN_ENDS` has the first number of the
next class."""


class Distribution(NamedTuple):
    """The distribution of a size: one value, in `unit`, for each of `per`.

    For example: the unit is "turns", and there is a value for each of the "dialogues".
    """

    name: str
    unit: str
    per: str
    values: tuple[int, ...]


class CategoryCounts(NamedTuple):
    """The number of `per` (such as "questions") with each value, as (value, number) pairs."""

    name: str
    per: str
    counts: tuple[tuple[str, int], ...]


class Bin(NamedTuple):
    """A bar of a histogram: `n` values are from `first` to `last`, both included."""

    first: int
    last: int
    n: int


def distributions(items: Sequence[Item], tokens: Callable[[str], int]) -> list[Distribution]:
    """Compute the sizes of items and the lengths of their texts.

    Sizes that are 0 for all items, such as images of a text-only release, are left out.

    Args:
        items: The items.
        tokens: Estimates the tokens of a text. The tokens of an item are those of its questions,
            choices and reference answers, without images.

    Returns:
        The distributions.
    """
    unit = noun(items)
    turns = [turn for item in items for turn in item.turns]
    shown = [
        Distribution(f"Turns per {unit}", "turns", f"{unit}s", tuple(len(i.turns) for i in items)),
        Distribution(
            f"Images per {unit}", "images", f"{unit}s", tuple(len(i.image_ids) for i in items)
        ),
        Distribution(
            f"Text tokens per {unit}, estimated",
            "tokens",
            f"{unit}s",
            tuple(tokens(_text(item)) for item in items),
        ),
        Distribution(
            "Words per question", "words", "questions", tuple(n_words(t.question) for t in turns)
        ),
        Distribution(
            "Words per reference answer",
            "words",
            "answers",
            tuple(n_words(turn.reference) for turn in turns if turn.reference is not None),
        ),
    ]
    # If every item has one turn, the number of turns is left out.
    if unit == ITEM:
        shown = shown[1:]
    return [
        distribution
        for distribution in shown
        if distribution.values and set(distribution.values) != {0}
    ]


def shares(items: Sequence[Item]) -> list[CategoryCounts]:
    """Count kinds of questions, numbers of choices, letters of right choices, and labels of items.

    Labels with too many values to split scores by, such as ids, and paths of images are left out.
    """
    unit = f"{noun(items)}s"
    questions: Counter[str] = Counter()
    keys: Counter[str] = Counter()
    for item in items:
        questions.update(labels["question"] for labels in labels_by_turn(item).values())
        keys.update(turn.references["key"] for turn in item.turns if "key" in turn.references)
    n_choices = Counter(str(len(item.choices)) for item in items if item.choices)
    all_shares = [
        CategoryCounts("A question is about", "questions", _largest_first(questions)),
        CategoryCounts("Choices offered", unit, _largest_first(n_choices)),
        CategoryCounts("Right choice", "questions", tuple(sorted(keys.items()))),
    ]
    labels: dict[str, Counter[str]] = {}
    for item in items:
        for label, value in item.labels.items():
            labels.setdefault(label, Counter())[value] += 1
    all_shares += [
        CategoryCounts(label.capitalize(), unit, _largest_first(counts))
        for label, counts in labels.items()
        if tells_kinds(label, len(counts))
    ]
    return [share for share in all_shares if share.counts]


def token_classes(
    items: Sequence[Item], text_tokens: Callable[[str], int], image_tokens: Mapping[str, int]
) -> list[CategoryCounts]:
    """Count items by their number of image and text tokens (MMDU, Figure 4).

    Args:
        items: The items of a release.
        text_tokens: Estimates the tokens of a text.
        image_tokens: The tokens of each image whose size is known.

    Returns:
        The counts of the paper's classes. Items without images, or with an image of unknown size, are
        left out; empty if no item remains.
    """
    classes: Counter[str] = Counter()
    for item in items:
        if item.image_ids and all(image_id in image_tokens for image_id in item.image_ids):
            n = text_tokens(_text(item)) + sum(image_tokens[i] for i in item.image_ids)
            classes[TOKEN_CLASSES[bisect(TOKEN_ENDS, n)]] += 1
    counts = tuple((name, classes[name]) for name in TOKEN_CLASSES)
    unit = f"{noun(items)}s"
    return (
        [CategoryCounts("Tokens of images and texts, estimated", unit, counts)] if classes else []
    )


def noun(items: Sequence[Item]) -> str:
    """Return the noun for items: "dialogue" if any has several turns, else "item"."""
    return "dialogue" if any(len(item.turns) > 1 for item in items) else ITEM


def summary(values: Sequence[int]) -> str:
    """Write number, mean, median and range of values."""
    if not values:
        return "nothing to show"
    mean = f"{fmean(values):.1f}".removesuffix(".0")
    return (
        f"n = {len(values)}, mean {mean}, median {median(values):g}, "
        f"range {min(values)}–{max(values)}"
    )


def histogram(values: Sequence[int]) -> list[Bin]:
    """Count values in at most 12 bins, with a width of 1, 2, 5, 10, 20, ... whole numbers."""
    low, high = min(values), max(values)
    width = next(width for width in _widths() if high // width - low // width < MAX_BINS)
    start = low // width
    counts = Counter(value // width - start for value in values)
    return [
        Bin((start + place) * width, (start + place + 1) * width - 1, counts[place])
        for place in range(high // width - start + 1)
    ]


def _widths() -> Iterable[int]:
    power = 1
    while True:
        yield from (power, 2 * power, 5 * power)
        power *= 10


def _text(item: Item) -> str:
    texts = [text for turn in item.turns for text in (turn.question, turn.reference or "")]
    return "\n".join([*texts, *item.choices])


def _largest_first(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
