"""LLM judges, without I/O: the requests of a benchmark about the answers to an item, and their replies.

A benchmark's `judge` is a generator. It yields judge requests, several at once if they are independent,
is sent a `Judgment` or None for each, and returns observations. A benchmark scored by rule yields
nothing.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from methods.evaluation.asking import OWN_DOING, Answer
from methods.prompts.messages import Message, Text
from methods.prompts.parsing import JsonSchema
from methods.prompts.placeholders import require_own_words

RULE = "rule"
"""The judge of answers that are scored by rule, without a model."""
PANEL = "panel"
"""All judges of a release combined."""
PEOPLE = "people"
"""All people who score, as one rater next to a judge."""

ObservationStatus = Literal[
    "judged",
    "refused",
    "truncated",
    "reasoning_only",
    "empty",
    "failed",
    "not_asked",
    "not_judged",
    "no_reference",
    "no_picture",
]
"""Only `judged` has a value. From `refused` to `not_asked`: the model gave nothing to judge.
`not_judged`: the judge gave no judgment. `no_reference`: the release has no reference to judge by.
`no_picture`: the release lacks the image that the model had to see, so it was not asked."""

NO_PICTURE = "no_picture"
BY_THE_MODEL = (*OWN_DOING, "failed", "not_asked")
"""Statuses of the model's failures: it gave nothing to judge."""


class JudgmentKey(NamedTuple):
    """The key of a judgment of an item: its trial, its turn and its part."""

    trial: str
    turn: int
    part: str


@dataclass(frozen=True)
class JudgeRequest:
    """A request to the judge about the answer of a trial and turn; the prompt `prompt` is rendered
    with `data` and `images`. `read` makes a Judgment of the reply or raises ParseError.
    """

    place: JudgmentKey
    prompt: str
    data: Mapping[str, Any]
    images: tuple[str, ...]
    read: Callable[[str], "Judgment"]
    schema: JsonSchema | None = None


@dataclass(frozen=True)
class Judgment:
    """The parsed reply of a judge: a score per dimension, the overall score, the explanation."""

    scores: Mapping[str, float]
    score: float
    explanation: str


def own_judgment(judgment: Judgment, request: Sequence[Message]) -> Judgment:
    """Check that the explanation of a judgment is in the judge's own words.

    Args:
        judgment: The parsed judgment.
        request: The messages that the judge replied to. The first has the instructions, even if the
            prompt has no system message.

    Returns:
        The same judgment.

    Raises:
        ParseError: `copied_example`: the explanation is copied from an example in the instructions.
    """
    instructions = " ".join(part.text for part in request[0].parts if isinstance(part, Text))
    require_own_words(judgment.explanation, instructions)
    return judgment


@dataclass(frozen=True)
class Observation:
    """One scored fact; `value` is on the judge's scale, None unless the status is `judged`.

    `part` is the part of its judgment; empty without a judgment.
    """

    metric: str
    trial: str
    turn: int
    status: ObservationStatus
    value: float | None = None
    part: str = ""


Judging = Generator[Sequence[JudgeRequest], Sequence[Judgment | None], list[Observation]]


def unjudged_observations(
    metrics: Sequence[str], trial: str, turn: int, answer: Answer
) -> list[Observation]:
    """Make the observations of an answer that cannot be judged.

    Args:
        metrics: The names of the scores.
        trial: The variant.
        turn: The turn.
        answer: The answer; one with a text counts as `failed`.

    Returns:
        An observation without a value for each metric.
    """
    # Without a text the status is neither `answered` nor `given`, which observations do not have.
    status: ObservationStatus = "failed" if answer.text is not None else answer.status  # type: ignore[assignment]
    return [Observation(metric, trial, turn, status) for metric in metrics]


def judgment_observations(
    metrics: Sequence[str], place: JudgmentKey, judgment: Judgment | None
) -> list[Observation]:
    """Make the observations of one judgment.

    Args:
        metrics: The names of the scores.
        place: The trial, turn and part that were judged.
        judgment: The judgment; None if the judge failed, which gives the status `not_judged`.

    Returns:
        An observation for each metric.
    """
    if judgment is None:
        return [
            Observation(metric, place.trial, place.turn, "not_judged", part=place.part)
            for metric in metrics
        ]
    return [
        Observation(metric, place.trial, place.turn, "judged", judgment.scores[metric], place.part)
        for metric in metrics
    ]


def replay(judging: Judging, judgments: Mapping[JudgmentKey, Judgment]) -> list[Observation]:
    """Run a `judge` generator with stored judgments.

    Args:
        judging: A generator by a benchmark's `judge`.
        judgments: The stored judgments; the generator is sent None for the others.

    Returns:
        The observations.
    """
    try:
        requests = next(judging)
        while True:
            requests = judging.send([judgments.get(request.place) for request in requests])
    except StopIteration as end:
        observations: list[Observation] = end.value
        return observations


def requests_of(
    judging: Judging, judgments: Mapping[JudgmentKey, Judgment] | None = None
) -> Iterator[JudgeRequest]:
    """List the requests that a `judge` generator yields.

    Args:
        judging: A generator by a benchmark's `judge`.
        judgments: The stored judgments; the generator is sent None for the others.

    Yields:
        The requests.
    """
    existing = judgments or {}
    with suppress(StopIteration):
        requests = next(judging)
        while True:
            yield from requests
            requests = judging.send([existing.get(request.place) for request in requests])
