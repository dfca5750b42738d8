"""Task categories: names that a model gave to tasks, synonyms merged (ConvBench, 3, ii, and F).

What belongs here: the usual form of a name, which names are one category, and the category's name.
Embedding names is `resources/embedder.py`; people put right what is merged or named wrongly.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from methods.clustering.communities import threshold_communities
from methods.clustering.neighbours import Vectors
from methods.clustering.similarity import paired_cosines

_SMALL_WORDS = frozenset({"a", "an", "and", "for", "in", "of", "on", "or", "the", "to", "with"})


class Named(NamedTuple):
    """A name, how many turns have it, the category that it belongs to, and its cosine to that name.

    `nearest` is the category most like the name among the others, for people to decide whether they are
    one; None where there is no other.
    """

    name: str
    n_turns: int
    category: str
    similarity: float
    nearest: str | None
    nearest_similarity: float | None


def task_name(text: str) -> str:
    """A name in its usual form: capitals as in a title, without marks around it or double spaces.

    A word in capitals, such as OCR, stays as it is.
    """
    words = text.strip(" \t\n\"'“”.,;:!?。").split()
    return " ".join(
        word.lower() if place and word.lower() in _SMALL_WORDS else word[:1].upper() + word[1:]
        for place, word in enumerate(words)
    )


def categories_of(counts: Mapping[str, int], vectors: Vectors, tau: float) -> list[Named]:
    """The category of each name in `counts`, which has the number of turns by name.

    `vectors` are the unit vectors of the names, in their order, shape (names, d). Names within `tau`
    of one that has the most others within `tau` are one category, as in `threshold_communities`: no
    chain of pairs makes two tasks one. It is called as most of its turns are, of several such names
    the shortest, of these the first. Raises ThresholdError.
    """
    names = list(counts)
    chief_of: dict[int, int] = {}
    for community in threshold_communities(vectors, tau, min_size=1):
        chief = min(community.members, key=lambda row: (-counts[names[row]], len(names[row]), row))
        chief_of |= dict.fromkeys(community.members, chief)
    chiefs = np.array(sorted(set(chief_of.values())), dtype=np.intp)
    found = []
    for row, chief in sorted(chief_of.items()):
        cosines = paired_cosines(vectors, np.full(len(chiefs), row), vectors, chiefs)
        of = dict(zip(chiefs.tolist(), cosines.tolist(), strict=True))
        similarity = of.pop(chief)
        nearest = max(of, key=lambda other: of[other], default=None)
        found.append(
            Named(
                names[row],
                counts[names[row]],
                names[chief],
                similarity,
                None if nearest is None else names[nearest],
                None if nearest is None else of[nearest],
            )
        )
    return found
