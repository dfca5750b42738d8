"""Hallucination check by rule: finds names and numbers in an answer that its sources do not support.

Small numbers and common words need no source, because they can come from the image. A model checks
whether the image supports statements about objects (the check `unsupported`).
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, product

from methods.choice.translation_checks import written_numbers
from methods.quality.leaks import names_in
from methods.quality.quotations import is_quotation, without_quotations

_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")
_DECADE = re.compile(r"\b\d{4}s\b")
_WORD = re.compile(r"[^\W_]+")
_MARKS = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,2}[.)]|#{1,6})[ \t]+|\*\*|__", re.MULTILINE)
_SPEAKER = re.compile(r"I['’]|AI\Z")
_UNCERTAIN = re.compile(
    r"\b(?:about|almost|approximately|around|circa|nearly|perhaps|roughly|some|maybe|or so)\b",
    re.IGNORECASE,
)
MOST_COUNTED = 20
"""Numbers up to this one are not checked: they may count things in the image. Chosen by hand."""
MOST_REASONED = 12
"""Sums, differences and products of the smallest numbers of the sources, at most this many, count as
supported."""


def ungrounded_in(answer: str, grounds: Sequence[str]) -> str | None:
    """Find a name or number in an answer that no source text supports.

    A name is a capitalized word inside a sentence, in English and similar languages. Endings such as
    "'s" are ignored. A number is also supported if it is a sum, difference or product of two numbers of
    the sources, or within 10% of one if the answer has a word such as "about". Quotations are ignored.

    Args:
        answer: The answer.
        grounds: The source texts; without any, nothing is checked.

    Returns:
        The first such name or number, or None.
    """
    ground = "\n".join(grounds)
    if not ground.strip() or is_quotation(answer):
        return None
    text = _MARKS.sub("", without_quotations(answer))
    stems = {_stem(word) for word in _WORD.findall(ground)}
    for name in names_in(text):
        if not _SPEAKER.match(name) and any(
            _stem(word) not in stems for word in _WORD.findall(name)
        ):
            return f"the name {name}"
    numbers = set(_numbers(ground))
    for number in _numbers(_DECADE.sub(" ", text)):
        if number > MOST_COUNTED and not _follows(
            number, numbers, _UNCERTAIN.search(text) is not None
        ):
            return f"the number {number:g}"
    return None


def _stem(word: str) -> str:
    word = word.casefold()
    return word.removesuffix("s") if len(word) > 3 else word


def _numbers(text: str) -> Iterator[float]:
    for digits in _NUMBER.findall(text):
        yield float(digits.replace(",", ""))
    written = [int(word) for word in written_numbers(text)]
    compounds = any(word > MOST_COUNTED and word % 10 for word in written)
    for value in written:
        # Parts of compounds do not count: "hundred" of "seven hundred", "sixty" of "sixty-two".
        if value < 100 and not (compounds and value >= MOST_COUNTED and not value % 10):
            yield float(value)


def _follows(number: float, known_numbers: set[float], rounded: bool) -> bool:
    """Whether a number is known, rounded from a known one, or computed from two known ones."""
    if number in known_numbers or (
        rounded and any(abs(number - each) <= 0.1 * each for each in known_numbers)
    ):
        return True
    few = sorted(known_numbers)[:MOST_REASONED]
    sums = {value for a, b in combinations(few, 2) for value in (a + b, abs(a - b))}
    return number in sums | {a * b for a, b in product(few, repeat=2)}
