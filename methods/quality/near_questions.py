"""Deduplication of questions: near-duplicates and paraphrases, within a dialogue and within a corpus.

Texts are grouped by the exact Jaccard index of their word pairs (bigrams), without comparing all pairs
of texts. If the index of two sets is at least t, they share at least ceil(t m) bigrams, where m is the
size of either set. So if all bigrams are sorted in one fixed order, the two sets share one among the
first m - ceil(t m) + 1 of each (prefix filtering: Chaudhuri, Ganti and Kaushik 2006; Bayardo, Ma and
Srikant 2007). With the rarest bigrams first, few texts have to be compared.

In a long question, a single different word hardly changes the index, but may change the meaning: "which
looks older" is not "which looks taller". So within a dialogue the content words must be the same, too.
Paraphrases (other words, same meaning) are found by their answers: the content words that the answers
add to the questions must be similar.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from functools import lru_cache

from methods.choice.translation_checks import ORDINALS
from methods.quality.languages import EMPTY_WORDS
from methods.same_text import COLOURS, DIRECTIONS, comparable_text

_TOKEN = re.compile(
    r"<image-\d+>|[\u3400-\u4dbf\u4e00-\u9fff\u3041-\u30ff]|[^\W_]+(?:['’][^\W_]+)*"
)
_IMAGE = re.compile(r"<image-\d+>(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+)<image-\d+>)*")
_INFLECTED = re.compile(r"(?<=\w{3})(?:['’]s|ing|[aeo]s|e[dnrsm]|est|[aeos])\Z")
_ASKING = """
what which who whom whose how thing object item kind sort type person people place spot location way
manner method means reason cause purpose name part piece called known much many shown seen visible
exactly actually really
"""
_ASKING_WORDS = frozenset(
    _INFLECTED.sub("", word) for word in [*_ASKING.split(), "what's", "who's"]
)
"""Stems of words that only ask and do not change the meaning: "Which object" means "What"."""
_TURNING = COLOURS | DIRECTIONS | frozenset(ORDINALS)
_OF_CIRCUMSTANCE = frozenset(["where", "why", "when"])
LEAST_SAME, LEAST_OVERLAP, FEWEST_SAME = 0.5, 2 / 3, 2
"""Limits for paraphrased questions: least Jaccard index of the content words that the two answers add
to the questions, least share of the shorter question's content words that the other one has, and least
number of content words that both answers add. Chosen by hand."""
Pairs = frozenset[tuple[str, str]]
QuestionAnswer = tuple[str, str]
"""A question and its answer."""


def without_numbers(question: str) -> str:
    """Replace image references in a question by `<image-0>`, so that questions about different images
    are equal.
    """
    return _IMAGE.sub("<image-0>", question)


@lru_cache(maxsize=512)  # Each turn of a dialogue is compared with all others.
def content_words(question: str, language: str) -> frozenset[str]:
    """Reduce a question to its content words, without endings.

    Args:
        question: The question.
        language: Its language. For the languages of `EMPTY_WORDS`, articles, pronouns and the like are
            left out.

    Returns:
        The stems of the words, in lower case.
    """
    words = (word for word in _TOKEN.findall(question.casefold()) if not word.startswith("<"))
    empty = EMPTY_WORDS.get(language, frozenset())
    return frozenset(_INFLECTED.sub("", word) for word in words if word not in empty)


def word_pairs(text: str) -> Pairs:
    """Return the word bigrams of a text, with "^" and "$" as its first and last word."""
    words = ["^", *_TOKEN.findall(text.casefold()), "$"]
    return frozenset(zip(words, words[1:], strict=False))


def jaccard(first: frozenset[Hashable], second: frozenset[Hashable]) -> float:
    """Compute the Jaccard index: the size of the intersection over the size of the union."""
    return len(first & second) / len(first | second)


def first_alike(texts: Sequence[str], threshold: float) -> list[int]:
    """Group similar texts. Each text joins the first group whose first text is similar enough.

    Args:
        texts: The texts.
        threshold: The lowest Jaccard index of word pairs.

    Returns:
        For each text the position of the first text of its group.
    """
    sets = [word_pairs(text) for text in texts]
    frequency = Counter(pair for pairs in set(sets) for pair in pairs)
    leader_of: dict[Pairs, int] = {}
    index: dict[tuple[str, str], list[int]] = defaultdict(list)
    leaders = []
    for place, own in enumerate(sets):
        if own not in leader_of:
            prefix = _prefix(own, frequency, threshold)
            near = sorted({other for pair in prefix for other in index[pair]})
            best = next((other for other in near if jaccard(own, sets[other]) >= threshold), place)
            leader_of[own] = best
            if best == place:
                for pair in prefix:
                    index[pair].append(place)
        leaders.append(leader_of[own])
    return leaders


def _prefix(
    own: Pairs, frequency: Counter[tuple[str, str]], threshold: float
) -> list[tuple[str, str]]:
    """The rarest pairs of a text; every similar text has one of them among its own rarest pairs."""
    ordered = sorted(own, key=lambda pair: (frequency[pair], pair))
    return ordered[: len(ordered) - math.ceil(threshold * len(ordered)) + 1]


def asks_the_same(earlier: QuestionAnswer, later: QuestionAnswer, language: str) -> bool:
    """Check whether two English questions differ only in asking words ("What" and "Which object").

    Args:
        earlier: A question with its answer.
        later: Another question with its answer.
        language: Their language.

    Returns:
        True if they do, and the content words that their answers add are similar.
    """
    if language != "en" or _turns(earlier[0], later[0]):
        return False
    first, second = (content_words(asked[0], language) for asked in (earlier, later))
    return (
        first ^ second <= _ASKING_WORDS
        and bool(first & second)
        and _same(earlier, later, language, 1)
    )


def asks_in_other_words(earlier: QuestionAnswer, later: QuestionAnswer, language: str) -> bool:
    """Check whether two questions are paraphrases: most content words are common, and the answers add
    similar content words.

    The answers must share at least `FEWEST_SAME` words that are in neither question, because "What
    colour is the hat?" and "… the coat?" may both be answered by "Red". If one question has all words
    of the other, one word suffices. Questions that differ in a number, a colour or a direction are
    different.

    Args:
        earlier: A question with its answer.
        later: Another question with its answer.
        language: Their language, one of `EMPTY_WORDS`; else the result is False.

    Returns:
        True if they are paraphrases.
    """
    if language not in EMPTY_WORDS or _turns(earlier[0], later[0]):
        return False
    asking = _ASKING_WORDS | _OF_CIRCUMSTANCE
    first, second = (content_words(asked[0], language) - asking for asked in (earlier, later))
    least = min(len(first), len(second))
    shared = len(first & second)
    fewest = 1 if shared == least else FEWEST_SAME
    return shared >= max(1, LEAST_OVERLAP * least) and _same(earlier, later, language, fewest)


def is_reworded(
    earlier: QuestionAnswer, later: QuestionAnswer, similarity: float, least: float
) -> bool:
    """Check whether two questions are paraphrases by the cosine similarity of their embeddings.

    Questions that differ in a number, a colour or a direction are always different.

    Args:
        earlier: A question with its answer.
        later: Another question with its answer.
        similarity: The cosine similarity.
        least: The least similarity of paraphrases.

    Returns:
        True if they are paraphrases.
    """
    return similarity >= least and not _turns(earlier[0], later[0])


def _turns(earlier: str, later: str) -> bool:
    """Whether two texts differ in a number, ordinal, colour or direction, which changes a question."""
    return _turning_words(earlier) != _turning_words(later)


@lru_cache(maxsize=512)
def _turning_words(text: str) -> frozenset[str]:
    words = comparable_text(text).words
    return frozenset(word for word in words if word in _TURNING or word.isdigit())


def _same(earlier: QuestionAnswer, later: QuestionAnswer, language: str, fewest: int) -> bool:
    question_words = content_words(earlier[0], language) | content_words(later[0], language)
    first, second = (content_words(pair[1], language) - question_words for pair in (earlier, later))
    return len(first & second) >= fewest and jaccard(first, second) >= LEAST_SAME
