"""Training pairs of a critic: what the judge is sent, and the reply that a person's score makes."""

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
"""Why no pair is made of a scored answer."""
SHORTEST_NAME = 3
"""A candidate's name with fewer characters is a word like any other, and is not looked for."""

Render = Callable[[JudgeRequest], Sequence[Message]]
"""What the judge is sent, without images."""


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
    """An answer with what people gave it, one entry or more."""

    key: AnswerKey
    item: Item
    transcript: Transcript
    ratings: Sequence[HumanRating]


@dataclass(frozen=True)
class CriticPair:
    """One pair; `chosen` is the person whose score and reason `reply` has. `system` may be empty."""

    answer: ScoredAnswer
    request: JudgeRequest
    chosen: HumanRating
    score: int
    system: str
    prompt: str
    reply: str

    @property
    def pair_id(self) -> str:
        """The same for the same texts."""
        return content_id(self.system, self.prompt, self.reply)


class SkippedAnswer(NamedTuple):
    """A scored answer of which no pair is made."""

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

    Of answers that make the same prompt, the first counts.

    Args:
        benchmark: The benchmark.
        answers: The scored answers in a fixed order.
        render: Renders a judge request.
        candidates: The names of candidates, which no pair may mention.

    Yields:
        A pair for each request to the judge, or why there is none.
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
    """Select the rating with the median overall score (the lower of two) among people who gave a
    reason.

    Score and reason must be of one person. Of several the first by name is taken.

    Args:
        ratings: The ratings.
        overall: The overall dimension.

    Returns:
        The rating; None if nobody with that score gave a reason.
    """
    score = median_low([person.scores[overall] for person in ratings])
    of_score = [
        person for person in ratings if person.scores[overall] == score and person.reason.strip()
    ]
    return min(of_score, key=lambda person: (person.origin, person.rater), default=None)


def names_pattern(candidates: Iterable[str]) -> re.Pattern[str] | None:
    """Matches a text that names a candidate, as a whole word in any case; None for nobody.

    `gpt-4o` also matches `GPT 4o`. Prefixes of ablations and files, and what stands before the last
    slash of a name, are no part of it.
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
    # Chinese has no space beside a name.
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(longest)})(?![a-z0-9])", re.IGNORECASE)


def _reply_fields(schema: JsonSchema | None) -> tuple[str, list[str]] | None:
    """The one text of the judge's reply, and all its names in order; the others are whole numbers.

    None for a reply of any other form.
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
