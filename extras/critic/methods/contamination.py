"""Contamination of a critic's test split: contents that training and test pairs must not share."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from methods.prompts.messages import IMAGE_HERE

LEAST_ALIKE = 0.8
"""Questions that share at least this share of character trigrams are nearly the same."""
_ROWS = 500
"""The number of questions that are compared with all others at once. It affects only memory."""
_NO_WORD = re.compile(r"[\W_]+")

Kind = Literal["group", "image", "question", "near_question"]


class PairQuestion(NamedTuple):
    """The question of a pair; `group` has the wordings of one question, and `images` may be empty."""

    group: str
    images: tuple[str, ...]
    question: str


class SplitOverlap(NamedTuple):
    """A content in both splits; for near-duplicate questions, the question of the training split."""

    kind: Kind
    what: str


def plain_question(question: str) -> str:
    """The words of a question in lower case, by which questions are compared."""
    return _NO_WORD.sub(" ", question.replace(IMAGE_HERE, " ")).strip().casefold()


def near_duplicate_questions(
    first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Find the pairs of plain questions that are the same or nearly the same.

    The measure is Jaccard's index over character trigrams. An empty question is near to none.

    Args:
        first: The first questions.
        second: The second questions.

    Yields:
        The indexes of both questions.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any([*first, *second]):
        return
    count = CountVectorizer(analyzer="char", ngram_range=(3, 3), binary=True, lowercase=False)
    # With spaces around it a question has a trigram for each of its characters.
    grams = count.fit_transform([f" {question} " for question in [*first, *second]]).astype(
        np.int32
    )
    left, right = grams[: len(first)], grams[len(first) :]
    n_left, n_right = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (left, right))
    for start in range(0, len(first), _ROWS):
        both = (left[start : start + _ROWS] @ right.T).tocoo()
        rows = both.row + start
        either = n_left[rows] + n_right[both.col] - both.data
        alike = both.data >= LEAST_ALIKE * either
        yield from zip(rows[alike].tolist(), both.col[alike].tolist(), strict=True)


def shared_content(
    train: Sequence[PairQuestion], test: Sequence[PairQuestion]
) -> list[SplitOverlap]:
    """Find every group, image and question of the test split that the training split has, too.

    Args:
        train: The training split.
        test: The test split.

    Returns:
        The contents of both splits.
    """
    groups = {item.group for item in train} & {item.group for item in test}
    images = _images(train) & _images(test)
    learned, tested = _questions(train), _questions(test)
    same = set(learned) & set(tested)
    alike = {
        learned[i] for i, j in near_duplicate_questions(learned, tested) if learned[i] != tested[j]
    }
    overlaps: list[SplitOverlap] = []
    overlaps += (SplitOverlap("group", group) for group in sorted(groups))
    overlaps += (SplitOverlap("image", image) for image in sorted(images))
    overlaps += (SplitOverlap("question", question) for question in sorted(same))
    overlaps += (SplitOverlap("near_question", question) for question in sorted(alike))
    return overlaps


def _images(questions: Sequence[PairQuestion]) -> set[str]:
    return {image for item in questions for image in item.images}


def _questions(questions: Sequence[PairQuestion]) -> list[str]:
    return sorted({plain_question(item.question) for item in questions})
