"""Decontamination by n-gram overlap: finds texts of a benchmark in training texts, also if they were
changed a little.

Texts are compared by runs of three words (n-grams), so a text is found even with some words replaced,
other punctuation or reordered sentences. A run has the weight 1 / (1 + n), where n is the number of
other images whose texts contain it. So stock phrases, which a writer uses for many images, count little
(document frequency: Sparck Jones 1972; C4, Raffel et al. 2020, 2.2). Texts that differ in an image, a
number, a colour, a name or a direction are always different.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from methods.choice.translation_checks import CARDINALS
from methods.prompts.messages import IMAGE_HERE, IMAGE_NAME
from methods.unicode_forms import in_form

RUN, LONG_RUN = 6, 26
"""Widths of short and long runs. A word has the width 2, a character of a language without spaces 1: so
short runs have 3 words, and long runs 13."""
SHARES = {RUN: 0.4, LONG_RUN: 0.7}
"""Least share of the weight of a text's runs that another text must contain, by width. Short runs find
a text with one word in ten replaced; long runs find a text that consists of stock phrases."""
OWN_SHARE = 0.15
"""Least weight of shared runs per run of the text. A text with less consists of stock phrases and a
number."""
LEAST = 5.0
"""Least number of words that two texts share and other texts do not have. Fewer may be by chance."""
MOST = 20
"""A run that occurs in texts of at least this many other images has the weight 0."""
MOST_COMPARED = 10_000
"""The most details of another text times sentences of a text that it does not have. If there are more,
the details may be in other sentences and in another order. An answer of 30 sentences has 3,000."""

_LABEL = re.compile(rf"(?:\bimage\s*\d+\s*:\s*)?{re.escape(IMAGE_HERE)}\.?", re.IGNORECASE)
_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=。)|\n+")
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"{IMAGE_NAME}|\d+(?:[.,]\d+)*|[{_UNSPACED}]|[^\W\d_{_UNSPACED}]+", re.I)
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_SPELLINGS = {"gray": "grey", **{word: str(number) for word, number in CARDINALS.items()}}
_COLOURS = """
red orange yellow green turquoise teal cyan blue navy purple violet pink magenta brown beige tan grey
black white silver gold golden bronze copper crimson scarlet maroon ivory cream ochre olive indigo lilac
azure amber khaki reddish yellowish greenish bluish purplish pinkish brownish greyish blackish whitish
"""
COLOURS = frozenset([*_COLOURS.split(), *"红橙黄绿青蓝紫粉棕褐灰黑白"])
_DIRECTIONS = """
left right top bottom upper lower above below inside outside before after behind north south east west
brighter darker lighter larger smaller bigger taller shorter longer higher wider narrower older younger
newer more less fewer most least brightest darkest largest smallest no not never without neither nor yes
"""
DIRECTIONS = frozenset([*_DIRECTIONS.split(), *"左右不"])
"""Words that reverse the meaning of a statement."""
_NUMERALS = frozenset("两二三四五六七八九十百千")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparableText:
    """A text prepared for comparison.

    Attributes:
        words: All words, or characters of languages without spaces, in lower case.
        details: The images, numbers, colours and directions of each sentence, in order.
        capitals: Capitalized words within a sentence: probably names.
        first: Capitalized words at the beginning of a sentence or in a title: perhaps names.
    """

    words: Words
    details: tuple[Words, ...] = ()
    capitals: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()


def comparable_text(text: str) -> ComparableText:
    """Prepare a text for comparison: lower case, without image placeholders, numbers in digits."""
    text = _LABEL.sub(" ", _NOT.sub(" not", in_form("NFKC", text)))
    words: list[str] = []
    details: list[Words] = []
    capitals: set[str] = set()
    first: set[str] = set()
    for sentence in _SENTENCE.split(text):
        written = [match[0] for match in _WORD.finditer(sentence)]
        folded = [_folded(word) for word in written]
        words += folded
        if detail := tuple(word for word in folded if _is_detail(word)):
            details.append(detail)
        upper = [place for place, word in enumerate(written) if word[0].isupper()]
        # In a title, or in a text in capitals, capital letters do not mark names.
        is_title = 5 * len(upper) > 4 * len(written)
        for place in upper:
            (first if is_title or place == 0 else capitals).add(folded[place])
    return ComparableText(tuple(words), tuple(details), frozenset(capitals), frozenset(first))


def _folded(word: str) -> str:
    if _THOUSANDS.fullmatch(word):
        return word.replace(",", "")
    word = word.casefold()
    return _SPELLINGS.get(word, word)


def _is_detail(word: str) -> bool:
    return (
        word[0] == "<"
        or word[0].isdigit()
        or word in COLOURS
        or word in DIRECTIONS
        or word in _NUMERALS
    )


@lru_cache(maxsize=4096)  # Each text is compared with many others in a row.
def runs(words: Words, wide: int = RUN) -> Mapping[Words, None]:
    """Return the n-grams (runs) of a text, each once and in order. A shorter text is one n-gram.

    Args:
        words: The words or characters.
        wide: The width of an n-gram: 2 for each word, 1 for each character.

    Returns:
        The n-grams.
    """
    result: dict[Words, None] = {}
    end = width = 0
    for start, word in enumerate(words):
        while width < wide and end < len(words):
            width += _width(words[end])
            end += 1
        if width < wide and result:
            break
        result.setdefault(words[start:end])
        width -= _width(word)
    return result


def every_run(words: Words) -> set[Words]:
    """Return the short and the long n-grams of a text."""
    return {*runs(words), *runs(words, LONG_RUN)}


def _width(word: str) -> int:
    return 1 if _IS_UNSPACED.match(word) else 2


@lru_cache(maxsize=4096)
def _total_width(words: Words) -> int:
    return sum(map(_width, words))


def _weight(run: Words, n_about: int) -> float:
    """The weight of an n-gram that texts on `n_about` subjects have, those of the two compared among
    them."""
    n_others = max(0, n_about - 2)
    return _width(run[0]) / 2 / (1 + n_others) if n_others < MOST else 0.0


class Rarity:
    """The weights of n-grams, and the words that are names, from all compared texts.

    Args:
        tested: The texts to search for, each with its subject. Only their n-grams are kept.
        others: The texts to search in, each with its subject. Texts on one subject count once.
    """

    def __init__(
        self,
        tested: Iterable[tuple[ComparableText, Hashable]],
        others: Iterable[tuple[ComparableText, Hashable]],
    ):
        about: dict[Words, set[Hashable]] = defaultdict(set)
        capitals: Counter[str] = Counter()
        for is_tested, texts in ((True, tested), (False, others)):
            for text, what in texts:
                capitals.update(text.capitals)
                capitals.subtract({*text.words} - text.capitals - text.first)
                for run in every_run(text.words):
                    if (is_tested or run in about) and len(about[run]) < MOST + 2:
                        about[run].add((is_tested, what))
        self._weights = {run: _weight(run, len(texts)) for run, texts in about.items()}
        self._names = frozenset(word for word, count in capitals.items() if count > 0)

    def weight(self, run: Words) -> float:
        """Return the weight of a shared n-gram, which is lower the more other subjects have it."""
        weight = self._weights.get(run)
        return _weight(run, 0) if weight is None else weight

    def in_common(self, text: ComparableText, other: ComparableText) -> float | None:
        """Check whether a text contains another one, and count the words that only these two share.

        `other` must contain enough of the weight of the text's n-grams (short or long ones; the whole
        text if it is shorter), and all its names, images, numbers, colours and directions at least as
        often. Except for names, those of one sentence must be in one sentence and in the same order, up
        to MOST_COMPARED.

        Args:
            text: The text to search for.
            other: The text to search in.

        Returns:
            The weighted number of words; None if `other` does not contain the text.
        """
        if _total_width(text.words) < RUN:
            return 0.0 if text.words and _stands_in(text.words, other.words) else None
        shared = [self._shared(text, other, wide, share) for wide, share in SHARES.items()]
        shares = [n for n in shared if n is not None]
        return max(shares) if shares and self._has_details(text, other) else None

    def _shared(
        self, text: ComparableText, other: ComparableText, wide: int, share: float
    ) -> float | None:
        """The weight of the shared runs of a width; None if it is less than `share` of the text's runs,
        0 if the shared runs are only stock phrases.
        """
        own, other_runs = runs(text.words, wide), runs(other.words, wide)
        shared = [run for run in own if run in other_runs]
        if not shared:
            return None
        weights = {run: self.weight(run) for run in own}
        n_shared, n_all = sum(weights[run] for run in shared), sum(weights.values())
        if not n_all:
            return 0.0 if len(shared) >= share * len(own) else None
        if n_shared < share * n_all:
            return None
        return n_shared if n_shared >= OWN_SHARE * len(own) else 0.0

    def _has_details(self, text: ComparableText, other: ComparableText) -> bool:
        names = text.capitals | (text.first & self._names)
        wanted = [word for word in text.words if word in names or _is_detail(word)]
        if Counter(wanted) - Counter(other.words):
            return False
        others = {*other.details}
        changed = {*text.details} - others
        return len(changed) * sum(map(len, others)) > MOST_COMPARED or all(
            any(_is_subsequence(detail, other_detail) for other_detail in others)
            for detail in changed
        )


def _stands_in(short: Words, long: Words) -> bool:
    places = range(len(long) - len(short) + 1)
    return any(long[start : start + len(short)] == short for start in places)


def _is_subsequence(words: Words, other: Words) -> bool:
    rest = iter(other)
    return all(word in rest for word in words)
