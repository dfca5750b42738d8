"""The protocol that every benchmark implements, and the data that passes through it.

A benchmark says three things: how a turn of an item becomes messages, how an answer is judged, and
what is scored. Everything else (asking, resuming, counting, intervals) is the same for all. What
belongs here: that protocol. What does not: any benchmark (a folder of its own).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from methods.prompts.messages import Message
from methods.prompts.parsing import JsonSchema
from methods.prompts.template import PromptTemplate


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
    """A judge's reply as read: a score per dimension, the overall score, the explanation."""

    scores: Mapping[str, int]
    score: int
    explanation: str


class Benchmark(Protocol):
    """How one benchmark asks, judges and scores."""

    name: str
    """Short name, and the name of its releases."""
    judge_prompt: str
    """Which prompt file its judge reads, `<method>/<task>`."""
    judgment_schema: JsonSchema
    """Form of a judgment where the judge's endpoint can be held to one; `parse_judgment` reads it."""
    answer_version: str
    """Version of how it turns an item into messages; changes when `messages` does."""
    dimensions: Sequence[str]
    """What is scored, the overall dimension last."""
    score_range: tuple[int, int]
    """The lowest and the highest score that a judge, or a person in its place, may give."""
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
        """The judge's reply read; raises methods.prompts.parsing.ParseError."""
        ...


_REFUSAL = re.compile(
    r"^\W*(?:i['’]?m (?:very |really |so )?sorry|i am (?:very |really |so )?sorry|sorry"
    r"|i apologi[sz]e|unfortunately|as an ai(?: [\w-]+){0,4})?[,.;:\s]*(?:but )?"
    r"(?:(?:i|we) (?:can['’]?t|cannot|can not|won['’]?t|must decline|have to decline)"
    r"|(?:i am|i['’]?m|we are|we['’]re) (?:unable|not able) to)\b",
    re.IGNORECASE,
)
_CAVEAT = re.compile(
    r"\b(?:but|however)\b(?!,? (?:if you|please|feel free|let me know"
    r"|(?:i|we)(?: can| could| would|['’]d|['’]ll) (?:be|help|try|assist|offer|provide)\b))",
    re.IGNORECASE,
)
"""What turns a declined part into a caveat; an offer to do something else does not."""

MOST_WORDS, OPENING = 60, 500
"""A refusal has at most so many words and stands in so many first characters."""


def is_refusal(answer: str) -> bool:
    """Whether an answer declines in its first words; an answer that complies after a caveat does not.

    "I cannot tell the year, but the boat is red" is an answer, and so is anything over 60 words. A
    heuristic for a count beside the scores, not a judgment: English only, by the usual phrases.
    """
    words = answer.split()
    # An answer that repeats one character thousands of times would take the expression minutes.
    refused = _REFUSAL.match(" ".join(words)[:OPENING])
    if refused is None or len(words) > MOST_WORDS:
        return False
    return _CAVEAT.search(" ".join(words), refused.end()) is None
