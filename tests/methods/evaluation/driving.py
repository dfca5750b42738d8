"""Running the generators of a benchmark without a model: plain values in, what was yielded out."""

from collections.abc import Callable, Generator
from typing import Any

from methods.evaluation.asking import Answer, AnswerRequest, Asking, ExtractionRequest


def drive(
    asking: Generator[Asking, Any, None],
    answer: Callable[[AnswerRequest], Answer],
    extract: Callable[[ExtractionRequest], str | None] = lambda step: step.by_rule,
) -> list[Asking]:
    """Everything that the generator yields, answered by `answer` and read by `extract`."""
    steps: list[Asking] = []
    came: Any = None
    while True:
        try:
            step = asking.send(came)
        except StopIteration:
            return steps
        steps.append(step)
        came = answer(step) if isinstance(step, AnswerRequest) else None
        if isinstance(step, ExtractionRequest):
            came = extract(step)
