"""Keywords of tasks that a picture shows, by vectors of pictures and texts in one space.

What belongs here: which keyword's phrase is close enough to which picture. The vectors come from a
CLIP-like encoder, whose cosines have a range of their own (about 0.2 to 0.35 for CLIP): the least one
that counts is a setting.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Seen: TypeAlias = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By picture and task, the keywords that the picture shows; without what has none."""
AT_ONCE = 4096
"""Pictures that are compared with all keywords at once."""


def phrase(keyword: str) -> str:
    """What is encoded of a keyword: encoders were trained on captions, not on single words."""
    return f"a picture of {keyword}"


def cosines(
    pictures: NDArray[np.float32], phrases: NDArray[np.float32]
) -> list[NDArray[np.float32]]:
    """Cosines of unit vectors, pictures (n, d) against phrases (k, d), at most 4,096 rows a part."""
    return [
        pictures[start : start + AT_ONCE] @ phrases.T for start in range(0, len(pictures), AT_ONCE)
    ]


def seen_keywords(
    image_ids: Sequence[str],
    similarity: Sequence[NDArray[np.float32]],
    keywords: Mapping[str, Sequence[str]],
    at_least: float,
) -> Seen:
    """The keywords of each task whose cosine with a picture is `at_least` that.

    `similarity` has a row for each of `image_ids` and a column for each keyword, in the order of the
    tasks and of their words.
    """
    named = [(task, word) for task, words in keywords.items() for word in words]
    seen: dict[str, dict[str, tuple[str, ...]]] = {}
    start = 0
    for part in similarity:
        for row, column in np.argwhere(part >= at_least):
            task, word = named[column]
            of_picture = seen.setdefault(image_ids[start + row], {})
            of_picture[task] = (*of_picture.get(task, ()), word)
        start += len(part)
    return seen
