"""Requests of a benchmark to a model about one item, and their replies, without I/O.

A benchmark's `ask` is a generator. It yields an `AnswerRequest` and is sent the `Answer`; it yields an
`ExtractionRequest` and is sent the value extracted from an answer. A driver sends the requests
(`assets/evaluate/inference.py`); tests send plain values. Each request names a trial, a variant of the
requests on an item: `plain`, `shift-1`, `perfect-perception`, `retest-1`.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from methods.prompts.messages import Message
from methods.prompts.prompt_template import PromptTemplate

PLAIN = "plain"
"""The trial in which an item is asked without changes."""

AnswerStatus = Literal[
    "answered", "given", "refused", "truncated", "reasoning_only", "empty", "failed", "not_asked"
]
"""`given`: the benchmark set the text. `refused`: declined in words, or a filter left no text."""
NO_ANSWER = ("truncated", "reasoning_only", "empty")
"""Statuses of a turn whose reply has no answer: it is not judged, and is counted separately."""
OWN_DOING = ("refused", *NO_ANSWER)
"""Statuses of turns that a model left without an answer: they count in its scores, not as failures."""


ContextPolicy = Literal["fail", "truncate", "tile", "sample"]
"""What is done about a dialogue that is too long for a model. `fail`: its turn fails; `truncate`: the
oldest turns are left out, with their images; `tile`: the images shown so far are sent as one numbered
image; `sample`: images are left out at random."""
_CONTEXT = " context="


def with_policy(version: str, policy: ContextPolicy) -> str:
    """Add the context policy to a version, unless it is `fail`.

    Args:
        version: The version of asking, or of scores of the answers.
        policy: What to do with a dialogue that does not fit the model's context.

    Returns:
        The version.
    """
    return version if policy == "fail" else f"{version}{_CONTEXT}{policy}"


def policy_of(version: str) -> ContextPolicy:
    """Read the context policy from a version."""
    named = version.rpartition(_CONTEXT)[2] if _CONTEXT in version else "fail"
    return next(policy for policy in get_args(ContextPolicy) if policy == named)


def _no_prompts(name: str) -> PromptTemplate:
    raise LookupError(f"No prompt files are given, so {name} cannot be read.")


@dataclass(frozen=True)
class AskingLimits:
    """The limits of the requests to one model; `prompt` reads the prompt file `<method>/<task>`."""

    context_policy: ContextPolicy = "fail"
    prompt: Callable[[str], PromptTemplate] = _no_prompts


@dataclass(frozen=True)
class AnswerRequest:
    """A request to the model; the generator is sent its `Answer`.

    `turns_left_out` counts the oldest turns that `messages` lacks, `images_left_out` the images that
    were left out at random; `in_a_grid` sends all images as one numbered image. If a request
    `can_be_shorter` and is too long, nothing is recorded, and the generator yields a shorter request
    for the same trial and turn. `lacks` is a sentence about images that the model needs and the release
    lacks: then the model is not asked, unless it is to answer without images.
    """

    trial: str
    turn: int
    messages: tuple[Message, ...]
    turns_left_out: int = 0
    images_left_out: int = 0
    in_a_grid: bool = False
    can_be_shorter: bool = False
    lacks: str | None = None


@dataclass(frozen=True)
class ReferenceTurn:
    """A reference turn in place of the model's own; it is recorded as given, never as answered."""

    trial: str
    turn: int
    text: str


@dataclass(frozen=True)
class SkippedTurn:
    """A turn that cannot be asked; it is recorded with the reason.

    `no_reference`: the release lacks the reference that the turn needs, which is not a failure.
    """

    trial: str
    turn: int
    why: str
    no_reference: bool = False


@dataclass(frozen=True)
class ExtractionRequest:
    """Extraction from an answer: by rule, or by the extractor if no rule applies.

    Attributes:
        by_rule: The value that a rule extracted. If there is one, no model is asked.
        prompt: The prompt of the extractor.
        data: The fields of the prompt.
        read: Parses the extractor's reply, or raises ParseError.
        choices: The texts of the choices in the order of their letters, if a letter is extracted.
    """

    trial: str
    turn: int
    by_rule: str | None
    prompt: str
    data: Mapping[str, Any]
    read: Callable[[str], str]
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The reply to an `AnswerRequest`.

    Attributes:
        text: The answer; None if it cannot be judged or used as history.
        call_key: The key of its call.
        too_long: Whether the server refused the request for its length, for its number of images, or
            without a known reason, so that a shorter request may be answered.
    """

    status: AnswerStatus
    text: str | None = None
    call_key: str | None = None
    too_long: bool = False


Asking = AnswerRequest | ReferenceTurn | SkippedTurn | ExtractionRequest
"""The steps that an `ask` generator yields. It is sent an Answer for an AnswerRequest, the extracted
value or None for an ExtractionRequest, and None for the others.
"""


@dataclass(frozen=True)
class Transcript:
    """One model's answers to one item, and the values extracted from them, by trial and turn.

    `context_policy` is the policy of its requests.
    """

    answers: Mapping[tuple[str, int], Answer]
    readings: Mapping[tuple[str, int], str | None] = field(default_factory=dict)
    context_policy: ContextPolicy = "fail"

    def answer(self, trial: str, turn: int) -> Answer:
        """Return the answer of a trial and turn; `not_asked` if there is none.

        Args:
            trial: The trial.
            turn: The turn.

        Returns:
            The answer.
        """
        return self.answers.get((trial, turn), Answer("not_asked"))


def readings_of(
    asking: Generator[Asking, Any, None], transcript: Transcript
) -> Iterator[ExtractionRequest]:
    """List the answer extractions of a transcript, without asking a model.

    Args:
        asking: A generator by a benchmark's `ask`.
        transcript: The answers, and what was extracted from them.

    Yields:
        The extraction requests, up to the first request that the transcript has no answer to.
    """
    came: Answer | str | None = None
    while True:
        try:
            step = asking.send(came)
        except StopIteration:
            return
        came = None
        if isinstance(step, AnswerRequest):
            came = transcript.answers.get((step.trial, step.turn))
            if came is None:
                return
        elif isinstance(step, ExtractionRequest):
            yield step
            came = transcript.readings.get((step.trial, step.turn))
