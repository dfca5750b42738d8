"""Training pairs of a critic: the judge's prompt on an answer, and the reply that a score implies."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Literal, NamedTuple

from methods.evaluation.asking import Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.candidates import ABLATIONS, FILE
from methods.evaluation.items import Item
from methods.evaluation.judge_quality import AnswerKey
from methods.evaluation.judging import JudgeRequest, requests_of
from methods.ids import content_id
from methods.prompts.messages import Message, Text
from methods.prompts.parsing import JsonSchema, ParseError

Why = Literal[
    "no_reason",
    "not_whole",
    "lacks_a_dimension",
    "not_judged",
    "unreadable",
    "names_a_model",
    "same_prompt",
]
"""Reasons why a scored answer has no training pair."""
SHORTEST_NAME = 3
"""A shorter name of a candidate is not searched for, as it may be an ordinary word."""

Render = Callable[[JudgeRequest], Sequence[Message]]
"""Renders a judge request as messages, without images."""


@dataclass(frozen=True)
class HumanRating:
    """One person's rating of an answer: scores by dimension, and the reason. `source` is where it
    was stored.
    """

    rater: str
    origin: str
    source: str
    scores: Mapping[str, float]
    reason: str


@dataclass(frozen=True)
class ScoredAnswer:
    """An answer with the ratings that people gave it, at least one."""

    key: AnswerKey
    item: Item
    transcript: Transcript
    ratings: Sequence[HumanRating]


@dataclass(frozen=True)
class CriticPair:
    """One training pair; `reply` has the score and the reason of `chosen`. `system` may be empty."""

    answer: ScoredAnswer
    request: JudgeRequest
    chosen: HumanRating
    score: int
    system: str
    prompt: str
    reply: str

    @property
    def pair_id(self) -> str:
        """The id of the pair: a hash of its texts."""
        return content_id(self.system, self.prompt, self.reply)


class SkippedAnswer(NamedTuple):
    """A scored answer without a training pair, and the reason."""

    key: AnswerKey
    part: str
    why: Why


def pairs_of(
    benchmark: Benchmark,
    answers: Iterable[ScoredAnswer],
    render: Render,
    candidates: Iterable[str],
) -> Iterator[CriticPair | SkippedAnswer]:
    """Make the training pairs of answers that people scored.

    If several answers have the same prompt, only the first counts.

    Args:
        benchmark: The benchmark.
        answers: The scored answers in a fixed order.
        render: Renders a judge request.
        candidates: The names of candidates, which no pair may mention.

    Yields:
        A pair for each judge request, or the reason why there is none.
    """
    named = names_pattern(candidates)
    prompts: set[tuple[str, str]] = set()
    for answer in answers:
        place = answer.key.trial, answer.key.turn
        requests = [
            request
            for request in requests_of(benchmark.judge(answer.item, answer.transcript))
            if request.place[:2] == place
        ]
        if not requests:
            yield SkippedAnswer(answer.key, "", "not_judged")
        for request in requests:
            pair = _pair(benchmark.dimensions[-1], answer, request, render, named)
            if isinstance(pair, CriticPair):
                prompt = pair.system, pair.prompt
                if prompt in prompts:
                    pair = "same_prompt"
                prompts.add(prompt)
            yield (
                pair
                if isinstance(pair, CriticPair)
                else SkippedAnswer(answer.key, request.place.part, pair)
            )


def _pair(
    overall: str,
    answer: ScoredAnswer,
    request: JudgeRequest,
    render: Render,
    named: re.Pattern[str] | None,
) -> CriticPair | Why:
    keys = _reply_fields(request.schema)
    if keys is None:
        return "unreadable"
    text, names = keys
    dimensions = [name for name in names if name != text]
    complete = [given for given in answer.ratings if {*dimensions, overall} <= given.scores.keys()]
    if not complete:
        return "lacks_a_dimension"
    chosen = median_score(complete, overall)
    if chosen is None:
        return "no_reason"
    if any(chosen.scores[name] % 1 for name in (*dimensions, overall)):
        return "not_whole"
    answer_text = answer.transcript.answer(answer.key.trial, answer.key.turn).text or ""
    if named is not None and (named.search(answer_text) or named.search(chosen.reason)):
        return "names_a_model"
    scores = {name: int(chosen.scores[name]) for name in dimensions}
    reply = json.dumps(
        {name: chosen.reason.strip() if name == text else scores[name] for name in names},
        ensure_ascii=False,
    )
    try:
        grades = request.read(reply)
    except ParseError:
        return "unreadable"
    if any(grades.scores.get(name) != score for name, score in scores.items()):
        return "unreadable"
    messages = render(request)
    return CriticPair(
        answer,
        request,
        chosen,
        int(grades.score),
        "".join(_text(message) for message in messages if message.role == "system"),
        "".join(_text(message) for message in messages if message.role == "user"),
        reply,
    )


def median_score(ratings: Sequence[HumanRating], overall: str) -> HumanRating | None:
    """Select the rating with the median overall score (lower of two) that has a reason, or None.

    Score and reason come from one person. If there are several, the first by origin and name is taken.
    """
    score = median_low([person.scores[overall] for person in ratings])
    of_score = [
        person for person in ratings if person.scores[overall] == score and person.reason.strip()
    ]
    return min(of_score, key=lambda person: (person.origin, person.rater), default=None)


def names_pattern(candidates: Iterable[str]) -> re.Pattern[str] | None:
    """Build a pattern for names of candidates as whole words in any case; None if there is no name.

    `gpt-4o` also matches `GPT 4o`. Prefixes of ablations and files, and the part of a name before its
    last slash, are ignored.
    """
    patterns = set()
    for candidate in candidates:
        kind, _, rest = candidate.partition(":")
        name = rest if kind in (FILE, *ABLATIONS) else candidate
        words = re.findall(r"[^\W_]+", name.rpartition("/")[2])
        if sum(map(len, words)) >= SHORTEST_NAME:
            patterns.add(r"[\s._-]*".join(map(re.escape, words)))
    if not patterns:
        return None
    longest = sorted(patterns, key=lambda pattern: (-len(pattern), pattern))
    # Chinese has no space next to a name.
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(longest)})(?![a-z0-9])", re.IGNORECASE)


def _reply_fields(schema: JsonSchema | None) -> tuple[str, list[str]] | None:
    """Find the one text field of the judge's reply, and all fields in order; others are whole numbers.

    Returns None if the reply has any other structure.
    """
    properties = (schema or {}).get("properties")
    if not isinstance(properties, Mapping):
        return None
    kinds = {name: field.get("type") for name, field in properties.items()}
    texts = [name for name, kind in kinds.items() if kind == "string"]
    n_scores = sum(kind == "integer" for kind in kinds.values())
    if len(texts) != 1 or not n_scores or 1 + n_scores < len(kinds):
        return None
    return texts[0], list(kinds)


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))
