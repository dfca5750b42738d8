"""A question-answer pair as the checks read it.

What belongs here: the pair and the texts it was written from.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Pair(NamedTuple):
    """One turn of a dialogue: `question` is without the placeholders of the images that enter."""

    dialogue_id: str
    question_id: str
    turn: int
    question: str
    answer: str


class Source(NamedTuple):
    """What the writer was told of one picture of the dialogue, and no reader is shown."""

    title: str
    caption: str
    page_text: str


class Dialogue(NamedTuple):
    """The pairs of one dialogue in their order, and the sources of its pictures."""

    dialogue_id: str
    pairs: Sequence[Pair]
    sources: Sequence[Source]
