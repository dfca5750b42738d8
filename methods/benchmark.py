"""The one protocol every benchmark speaks, and the plain data that passes through it.

A benchmark says three things: how a turn of an item becomes messages, how an answer is judged, and
what is scored. Everything else (asking, resuming, counting, intervals) is the same for all. What
belongs here: that protocol. What does not: any benchmark (a folder of its own).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from methods.messages import Message
from methods.prompting import PromptTemplate


@dataclass(frozen=True)
class Turn:
    """One user turn of an item, with its reference and the images that enter with it (1-based)."""

    turn: int
    question: str
    reference: str
    image_positions: tuple[int, ...]


@dataclass(frozen=True)
class Item:
    """One item of a release; `image_ids` in order of position."""

    item_id: str
    turns: tuple[Turn, ...]
    image_ids: tuple[str, ...]


@dataclass(frozen=True)
class Judgment:
    """What a judge's reply came to: a score per dimension, the one that sums it up, its words."""

    scores: Mapping[str, int]
    score: int
    explanation: str


class Benchmark(Protocol):
    """How one benchmark asks, judges and scores."""

    name: str
    """Short name; the third part of its assets' keys."""
    judge_prompt: str
    """Which prompt file its judge reads, `<method>/<task>`."""
    answer_version: str
    """Version of how it turns an item into messages; changes when `messages` does."""
    dimensions: Sequence[str]
    """What is scored, the summing-up dimension last."""
    scale: float
    """What a judge's score is multiplied by for the leaderboard."""

    def messages(self, item: Item, turn: int, answers: Sequence[str]) -> tuple[Message, ...]:
        """What the model is sent for `turn` (1-based), `answers` being its own earlier ones."""
        ...

    def judge_messages(
        self, item: Item, turn: int, answer: str, prompt: PromptTemplate
    ) -> tuple[Message, ...]:
        """What the judge is sent for one answer; never which model wrote it."""
        ...

    def parse_judgment(self, reply: str) -> Judgment:
        """The judge's reply read; raises methods.parsing.ParseError."""
        ...


_REFUSAL = re.compile(
    r"^\W*(?:i['’]?m (?:very |really )?sorry|i am sorry|sorry|i apologi[sz]e|unfortunately|as an ai\b[^.]*)?"
    r"[,.;:\s]*(?:but )?(?:i|we) (?:can['’]?t|cannot|can not|am unable to|['’]m unable to|won['’]?t|"
    r"am not able to|['’]m not able to|must decline|have to decline)\b",
    re.IGNORECASE,
)


def is_refusal(answer: str) -> bool:
    """Whether an answer declines in its first words; an answer that complies after a caveat does not.

    A short opening is looked at, not the whole text: "I cannot tell the year, but the boat is red" is
    an answer, so anything over 60 words counts as one.
    """
    return len(answer.split()) <= 60 and _REFUSAL.match(answer.strip()) is not None
