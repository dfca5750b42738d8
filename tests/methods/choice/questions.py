"""Items and answers for tests of multiple choice."""

from collections.abc import Callable, Mapping

from methods.evaluation.asking import (
    Answer,
    AnswerRequest,
    Asking,
    AskingLimits,
    ExtractionRequest,
    Transcript,
)
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Observation, replay
from methods.evaluation.slices import labels_by_turn
from methods.prompts.messages import Text
from resources.settings.prompts import prompt
from tests.methods.evaluation.driving import drive
from tests.methods.evaluation.observed import ScoredObservation


def item(
    key: str | None, *choices: str, item_id: str = "q", labels: Mapping[str, str] | None = None
) -> Item:
    turn = Turn(1, "<ImageHere>\nWhat is it?", (1,), {"key": key} if key else {})
    return Item(item_id, (turn,), ("sha",), choices, labels=labels or {})


def text_of(ask: AnswerRequest) -> str:
    return "".join(part.text for part in ask.messages[-1].parts if isinstance(part, Text))


def run(
    benchmark: Benchmark,
    of: Item,
    reply: Callable[[AnswerRequest], str | None],
    extract: Callable[[ExtractionRequest], str | None] = lambda step: step.by_rule,
    status: str = "answered",
) -> tuple[list[Asking], Transcript]:
    """What was asked, and the transcript; a reply that is None is one without a text."""

    def answer(ask: AnswerRequest) -> Answer:
        text = reply(ask)
        return Answer("refused") if text is None else Answer(status, text, "call")  # type: ignore[arg-type]

    steps = drive(benchmark.ask(of, AskingLimits(prompt=prompt)), answer, extract)
    asks = [step for step in steps if isinstance(step, AnswerRequest)]
    reads = [step for step in steps if isinstance(step, ExtractionRequest)]
    return steps, Transcript(
        {(ask.trial, ask.turn): answer(ask) for ask in asks},
        {(step.trial, step.turn): extract(step) for step in reads},
    )


def observed(benchmark: Benchmark, of: Item, transcript: Transcript) -> list[Observation]:
    return replay(benchmark.judge(of, transcript), {})


def scored(benchmark: Benchmark, of: Item, transcript: Transcript) -> list[ScoredObservation]:
    """The observations as metrics take them."""
    labels = labels_by_turn(of)
    return [
        ScoredObservation(
            of.item_id, of.cluster, each.trial, each.turn, each.metric, each.value, each.status,
            transcript.answer(each.trial, each.turn).status == "refused", labels[each.turn],
        )
        for each in observed(benchmark, of, transcript)
    ]  # fmt: skip
