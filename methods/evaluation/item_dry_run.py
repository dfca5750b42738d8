"""A dry run of an item without a model, so that invalid items are found at import.

It finds items that their benchmark cannot ask, and benchmarks that violate the protocol.
"""

from methods.evaluation.asking import (
    Answer,
    AnswerRequest,
    AskingLimits,
    ExtractionRequest,
    ReferenceTurn,
    SkippedTurn,
    Transcript,
)
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.judging import Observation, replay

EXPECTED_ANSWER = Answer("answered", "A")
MOST_STEPS = 1_000
"""Limit of the steps of one item; a benchmark that yields more does not end."""


class ItemDryRunError(Exception):
    """An item cannot be asked or judged; the message is a clause."""


def dry_run_item(benchmark: Benchmark, item: Item, limits: AskingLimits) -> None:
    """Ask and judge an item as if each answer were "A" and no judge replied.

    Args:
        benchmark: The benchmark.
        item: The item.
        limits: The limits of requests.

    Raises:
        ItemDryRunError: The item cannot be asked or judged.
    """
    try:
        transcript = _transcript(benchmark, item, limits)
    except Exception as error:
        raise ItemDryRunError(f"cannot be asked ({_error_text(error)})") from error
    try:
        observations = replay(benchmark.judge(item, transcript), {})
        _require_metrics(benchmark, observations)
        _require_asked(transcript, observations)
    except Exception as error:
        raise ItemDryRunError(f"cannot be judged ({_error_text(error)})") from error


def _error_text(error: Exception) -> str:
    message = str(error).rstrip(".")
    return message if isinstance(error, ItemDryRunError) else f"{type(error).__name__}: {message}"


def _transcript(benchmark: Benchmark, item: Item, limits: AskingLimits) -> Transcript:
    answers: dict[tuple[str, int], Answer] = {}
    readings: dict[tuple[str, int], str | None] = {}
    asking = benchmark.ask(item, limits)
    came: Answer | str | None = None
    for _ in range(MOST_STEPS):
        try:
            step = asking.send(came)
        except StopIteration:
            return Transcript(answers, readings)
        came = None
        match step:
            case AnswerRequest():
                came = answers[step.trial, step.turn] = EXPECTED_ANSWER
            case ReferenceTurn():
                answers[step.trial, step.turn] = Answer("given", step.text)
            case ExtractionRequest():
                came = readings[step.trial, step.turn] = step.by_rule
            case SkippedTurn():
                answers[step.trial, step.turn] = Answer("not_asked")
            case _:
                raise ItemDryRunError(f"`ask` yields a {type(step).__name__}")
    raise ItemDryRunError(f"`ask` yields more than {MOST_STEPS:,} times")


def _require_metrics(benchmark: Benchmark, observations: object) -> None:
    """Raise ItemDryRunError unless these are observations of the benchmark's `dimensions`."""
    if not isinstance(observations, list) or not all(
        isinstance(observation, Observation) for observation in observations
    ):
        raise ItemDryRunError("`judge` returns something else than a list of observations")
    if other := {observation.metric for observation in observations} - set(benchmark.dimensions):
        raise ItemDryRunError(
            f"`judge` observes {sorted(other)[0]!r}, which is none of `dimensions`"
        )


def _require_asked(transcript: Transcript, observations: list[Observation]) -> None:
    """Raise ItemDryRunError if a trial is judged that `ask` never asks."""
    trials = {trial for trial, _ in transcript.answers}
    if other := {observation.trial for observation in observations} - trials:
        raise ItemDryRunError(
            f"`judge` judges the trial {sorted(other)[0]!r}, which `ask` never asks"
        )
