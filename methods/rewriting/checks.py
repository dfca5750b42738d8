"""Checks of rewritten (paraphrased) prompts: same meaning, different style (AlignMMBench, 3.2)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from methods.choice.normalization import normalized
from methods.choice.translation_checks import written_numbers
from methods.prompts.parsing import ParseError
from methods.rewriting import image_tokens, lines_of
from methods.unicode_forms import in_form

LEAKED_SHARE = 0.3
"""A rewrite gives the answer away if it has at least this share of the words that only the reference
has."""
_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_RUN = re.compile(f"[{_HAN}]+")
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+")
_NUMBERS = re.compile(r"\d+")
_SAYING_NOTHING = """
    a an the this that these those it its he she they i you we me my your our their them us
    is are was were be been being am do does did done have has had can could will would shall should
    may might must and or but nor not no so if then than as of in on at to for from by with about into
    over under between through what which who whom whose when where why how there here all any both each
    more most other some such only very just also please tell say let know ask answer
    image picture photo photograph see look show shows shown seen looking
"""
_PLAIN_WORDS = frozenset(_SAYING_NOTHING.split())
"""Function words and words that occur in questions about any image."""

COPY, SAME_WORDS = "copy_of_the_question", "same_words"
TOKENS = "image_token"
LANGUAGE, LEAK = "other_language", "gives_answer_away"
MEANING, STYLE, NEAR_COPY = "other_meaning", "same_style", "hardly_changed"
SURPLUS = "more_than_needed"
"""Reasons to leave out a rewrite."""
MOST_LINES = 20
"""The most lines of a reply that are read for each rewrite that is needed. Each is compared with all
rewrites before it."""


class SimilarityBand(NamedTuple):
    """Limits of cosine similarity. A rewrite and its question have `lowest` to `highest`, two rewrites
    have at most `between`.
    """

    lowest: float
    highest: float
    between: float


class ParsedRewrites(NamedTuple):
    """The usable rewrites of a reply, in order, and its other lines, each with the reason."""

    rewrites: list[str]
    lost: list[tuple[str, str]]


class RewriteSelection(NamedTuple):
    """The indexes of the chosen rewrites, in order, and the reason against each other index."""

    places: list[int]
    lost: dict[int, str]


def language_of(text: str) -> str | None:
    """Return `zh`, `en` or `other` by the script of most of the text; None without a letter.

    A Chinese character counts as much as a word of another script. All Latin text counts as English.
    """
    counts = {"zh": 0, "en": 0, "other": 0}
    for word in _WORD.findall(in_form("NFKC", text)):
        n_han = sum(map(len, _HAN_RUN.findall(word)))
        counts["zh"] += n_han
        for rest in _HAN_RUN.split(word):
            if letter := next(filter(str.isalpha, rest), None):
                counts["en" if "LATIN" in unicodedata.name(letter, "") else "other"] += 1
    language = max(counts, key=lambda name: counts[name])
    return language if counts[language] else None


def says_nothing_new(reference: str, question: str) -> bool:
    """Check whether a question has every word of a reference (in Chinese, every pair of characters).

    Args:
        reference: The reference.
        question: The question.

    Returns:
        True if the reference adds nothing.
    """
    return not set(_terms(reference)) - set(_terms(question))


def require_new(reference: str, question: str) -> None:
    """Raise ParseError (`gives_answer_away`) if the question has every word of its reference."""
    if says_nothing_new(reference, question):
        raise ParseError(LEAK, "The question has everything in it that the reference says.")


def gives_number_away(text: str, question: str, reference: str) -> bool:
    """Check whether a text has a number of the reference that its question does not have.

    Args:
        text: The text.
        question: The question.
        reference: The reference.

    Returns:
        True if it has one.
    """
    return bool((_numbers(text) - _numbers(question)) & _numbers(reference))


def gives_words_away(text: str, question: str, reference: str) -> bool:
    """Check whether a text has at least `LEAKED_SHARE` of the content words that only the reference
    has.

    Args:
        text: The text.
        question: The question.
        reference: The reference.

    Returns:
        True if it has.
    """
    gained = set(_terms(text)) - set(_terms(question))
    hidden = set(_content(reference)) - set(_terms(question))
    return bool(hidden) and len(gained & hidden) >= LEAKED_SHARE * len(hidden)


def read_rewrites(reply: str, question: str, reference: str, n_rewrites: int) -> ParsedRewrites:
    """Read the rewrites in a model's reply, one per line, and check their words (`fault_in`).

    Args:
        reply: The reply.
        question: The question.
        reference: The reference of the question.
        n_rewrites: The number of rewrites that are needed.

    Returns:
        The usable rewrites, and the other lines with the reason against each.

    Raises:
        ParseError: `too_few_rewrites`.
    """
    parsed = ParsedRewrites([], [])
    for line in lines_of(reply)[: MOST_LINES * n_rewrites]:
        if fault := fault_in(line, question, reference, parsed.rewrites):
            parsed.lost.append((line, fault))
        else:
            parsed.rewrites.append(line)
    if len(parsed.rewrites) < n_rewrites:
        why = Counter(fault for _, fault in parsed.lost)
        reasons = "".join(f", {n} {fault}" for fault, n in sorted(why.items()))
        raise ParseError(
            "too_few_rewrites",
            f"{len(parsed.rewrites)} usable rewrites of {n_rewrites} that are needed{reasons}.",
        )
    return parsed


def fault_in(rewrite: str, question: str, reference: str, earlier: Sequence[str]) -> str | None:
    """Return the reason to reject a rewrite by its words; None if it is accepted.

    Case, width, articles, quotation marks and the final full stop do not make a different text.
    """
    comparable = _comparable(rewrite)
    if comparable == _comparable(question):
        return COPY
    if comparable in map(_comparable, earlier):
        return SAME_WORDS
    if image_tokens(rewrite) != image_tokens(question):
        return TOKENS
    if language_of(rewrite) != language_of(question):
        return LANGUAGE
    texts = (rewrite, question, reference)
    return LEAK if gives_number_away(*texts) or gives_words_away(*texts) else None


def choose_by_meaning(
    similarities: Sequence[Sequence[float]], band: SimilarityBand, n_kept: int
) -> RewriteSelection:
    """Choose rewrites with the same meaning as the question, but different wordings.

    A rewrite is compared with the question and with the rewrites that were chosen before it.

    Args:
        similarities: The matrix of cosine similarities of the question (row 0) and its rewrites.
        band: The limits of similarity.
        n_kept: The number of rewrites to choose.

    Returns:
        The indexes of the chosen rewrites, from 0, and the reason against each of the others.
    """
    places: list[int] = []
    lost: dict[int, str] = {}
    for place in range(len(similarities) - 1):
        row = similarities[place + 1]
        if row[0] < band.lowest:
            lost[place] = MEANING
        elif row[0] > band.highest:
            lost[place] = NEAR_COPY
        elif any(row[other + 1] > band.between for other in places):
            lost[place] = STYLE
        elif len(places) == n_kept:
            lost[place] = SURPLUS
        else:
            places.append(place)
    return RewriteSelection(places, lost)


# --- Words -----------------------------------------------------------------------------------------


def _comparable(text: str) -> str:
    return normalized(text).rstrip("?？. ")


def _terms(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, and for Chinese all pairs of adjacent characters."""
    for word in _WORD.findall(in_form("NFKC", text).casefold()):
        for run in _HAN_RUN.findall(word):
            yield from (run[place : place + 2] for place in range(max(1, len(run) - 1)))
        yield from filter(None, _HAN_RUN.split(word))


def _content(text: str) -> Iterator[str]:
    return (term for term in _terms(text) if term not in _PLAIN_WORDS)


def _numbers(text: str) -> set[str]:
    plain = in_form("NFKC", text)
    return {*_NUMBERS.findall(plain), *written_numbers(plain)}
