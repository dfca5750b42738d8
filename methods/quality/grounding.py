"""Hallucination: names and numbers of an answer that its sources do not support.

Small numbers that count things and common words need no source, because they can come from the image. A
model checks whether the image supports statements about objects (`unsupported`).
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
"""Numbers up to it may count what a picture shows."""
MOST_REASONED = 12
"""Of so many numbers sums, differences and products may be meant."""


def ungrounded_in(answer: str, grounds: Sequence[str]) -> str | None:
    """Find a name or number in an answer that no text supports.

    A name is a word with a capital inside a sentence, in English and similar languages; a name that a
    text has in part ("Roebling's") is supported. A number may be a sum, a difference or a product of
    those of the texts, or be rounded where the answer says so ("about"). Quotations are left out.

    Args:
        answer: The answer.
        grounds: The texts; without any nothing is checked.

    Returns:
        The first such name or number; None if there is none.
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
        # "Seven hundred" is two words, and so is "sixty-two".
        if value < 100 and not (compounds and value >= MOST_COUNTED and not value % 10):
            yield float(value)


def _follows(number: float, known_numbers: set[float], rounded: bool) -> bool:
    """Whether a number is known, is computed of two that are, or is one of them rounded."""
    if number in known_numbers or (
        rounded and any(abs(number - each) <= 0.1 * each for each in known_numbers)
    ):
        return True
    few = sorted(known_numbers)[:MOST_REASONED]
    sums = {value for a, b in combinations(few, 2) for value in (a + b, abs(a - b))}
    return number in sums | {a * b for a, b in product(few, repeat=2)}
