"""Leak check: finds texts of a caption, title or Wikipedia page in a question.

A question that reveals a name can be answered without recognizing what the image shows.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from methods.quality.outcome import WriterContext

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_TAG = re.compile(r"<[^<>]{1,40}>")
_HAN_RUN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\u3041-\u30ff]{4,}")
_NUMBER = re.compile(r"\b\d{2,}\b")
_NAMING_NOTHING = (
    "i english american european western eastern asian african chinese japanese french german italian"
    " spanish indian russian christian islamic january february march april may june july august"
    " september october november december monday tuesday wednesday thursday friday saturday sunday"
    " image images picture pictures"
)
_COMMON_NAMES = frozenset(_NAMING_NOTHING.split())
"""Capitalized words that are not counted as names, because many texts have them."""
HAN_CHARACTERS = 8
"""The number of consecutive Chinese or Japanese characters that count as a copy."""
PAGE_MORE = 2
"""A copy from a page needs this many more consecutive words than a copy from a caption, because a long
page shares short runs of words with any text."""


class SourceTexts(NamedTuple):
    """The texts of a dialogue's sources, indexed for comparison with its questions.

    Attributes:
        captions: All runs of `n_words` words of the captions.
        pages: All runs of `n_words + PAGE_MORE` words of the pages.
        words: All words, with their case.
        texts: The titles, captions and texts of pages.
        n_words: The number of consecutive words that count as a copy from a caption.
    """

    captions: frozenset[tuple[str, ...]]
    pages: frozenset[tuple[str, ...]]
    words: frozenset[str]
    texts: Sequence[str]
    n_words: int

    @classmethod
    def from_sources(cls, sources: Sequence[WriterContext], n_words: int) -> "SourceTexts":
        """Index the sources. `n_words` consecutive words count as a copy from a caption."""
        texts = [text for source in sources for text in source]
        return cls(
            _runs([source.caption for source in sources], n_words),
            _runs([source.page_text for source in sources], n_words + PAGE_MORE),
            frozenset(word for text in texts for word in _WORD.findall(text)),
            texts,
            n_words,
        )


def leak_in(question: str, sources: SourceTexts) -> str | None:
    """Find text of a caption, a title or a page in a question.

    A leak is a run of words from a caption or page, a run of Chinese or Japanese characters, a name (a
    capitalized word inside a sentence), or a number of at least two digits.

    Args:
        question: The question.
        sources: The captions, titles and pages.

    Returns:
        A description of the first leak, or None.
    """
    plain = _TAG.sub(" ", question)
    words = [word.casefold() for word in _WORD.findall(plain)]
    for source, runs, n in (
        ("a caption", sources.captions, sources.n_words),
        ("a page", sources.pages, sources.n_words + PAGE_MORE),
    ):
        for at in range(len(words) - n + 1):
            if tuple(words[at : at + n]) in runs:
                return f"{source} has “{' '.join(words[at : at + n])}”"
    if run := _shared_characters(plain, sources.texts):
        return f"a source has “{run}”"
    if name := next((word for word in names_in(plain) if word in sources.words), None):
        return f"the name {name}"
    numbers = _NUMBER.findall(plain)
    return next((f"the number {number}" for number in numbers if number in sources.words), None)


def _runs(texts: Sequence[str], n: int) -> frozenset[tuple[str, ...]]:
    """All runs of `n` consecutive words of the texts."""
    runs = set()
    for text in texts:
        words = [word.casefold() for word in _WORD.findall(text)]
        runs |= {tuple(words[at : at + n]) for at in range(len(words) - n + 1)}
    return frozenset(runs)


def names_in(question: str) -> Iterator[str]:
    """Yield the capitalized words that do not begin a sentence."""
    end = 0
    for match in _WORD.finditer(question):
        # From the last letter of the previous word, which does not end a sentence.
        word, before = match[0], question[max(end - 1, 0) : match.start()].rstrip(" \"'“‘(")
        end = match.end()
        begins = not before or before[-1] in ".!?:;\n。！？："
        if word[0].isupper() and not begins and word.casefold() not in _COMMON_NAMES:
            yield word


def _shared_characters(question: str, texts: Sequence[str]) -> str | None:
    """The first `HAN_CHARACTERS` consecutive characters that a text has, too."""
    for run in _HAN_RUN.findall(question):
        for at in range(len(run) - HAN_CHARACTERS + 1):
            part = run[at : at + HAN_CHARACTERS]
            if any(part in text for text in texts):
                return str(part)
    return None
