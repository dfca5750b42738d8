"""Hallucination check by rule: finds names and numbers in an answer that its sources do not support.

Small numbers and common words need no source, because they can come from the image. A model checks
whether the image supports statements about objects (the check `unsupported`).
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

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


class Grounds(NamedTuple):
    """The texts that support answers, indexed for comparison with many answers.

    Attributes:
        stems: All words, without case and endings.
        numbers: All numbers, each once, in ascending order.
        results: The sums, differences and products of two of the smallest numbers.
    """

    stems: frozenset[str]
    numbers: Sequence[float]
    results: frozenset[float]

    @classmethod
    def from_texts(cls, texts: Sequence[str]) -> "Grounds":
        """Index the source texts."""
        text = "\n".join(texts)
        numbers = sorted(set(_numbers(text)))
        few = numbers[:MOST_REASONED]
        sums = {value for a, b in combinations(few, 2) for value in (a + b, abs(a - b))}
        products = {a * b for a, b in product(few, repeat=2)}
        stems = frozenset(map(_stem, _WORD.findall(text)))
        return cls(stems, numbers, frozenset(sums | products))

    def supports(self, number: float, *, rounded: bool) -> bool:
        """Whether a number is known, computed from two known ones, or, if `rounded`, near one."""
        place = bisect_left(self.numbers, number)
        nearest = self.numbers[max(place - 1, 0) : place + 1]
        return (
            number in nearest
            or number in self.results
            or (rounded and any(abs(number - each) <= 0.1 * each for each in nearest))
        )


def ungrounded_in(answer: str, grounds: Grounds) -> str | None:
    """Find a name or number in an answer that no source text supports.

    A name is a capitalized word inside a sentence, in English and similar languages. Endings such as
    "'s" are ignored. A number is also supported if it is a sum, difference or product of two numbers of
    the sources, or within 10% of one if the answer has a word such as "about". Quotations are ignored.

    Args:
        answer: The answer.
        grounds: The source texts; if they have no words, nothing is checked.

    Returns:
        The first such name or number, or None.
    """
    if not grounds.stems or is_quotation(answer):
        return None
    text = _MARKS.sub("", without_quotations(answer))
    for name in names_in(text):
        if not _SPEAKER.match(name) and any(
            _stem(word) not in grounds.stems for word in _WORD.findall(name)
        ):
            return f"the name {name}"
    rounded = _UNCERTAIN.search(text) is not None
    for number in _numbers(_DECADE.sub(" ", text)):
        if number > MOST_COUNTED and not grounds.supports(number, rounded=rounded):
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
