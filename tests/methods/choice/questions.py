"""Items and answers for tests of multiple choice."""

from collections.abc import Callable, Mapping

from methods.evaluation.asking import Answer, Ask, Asking, Extract, Limits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Observation, replay
from methods.evaluation.metrics import Scored
from methods.evaluation.slices import labels_by_turn
from methods.prompts.messages import Text
from tests.methods.evaluation.driving import drive


def item(
    key: str | None, *choices: str, item_id: str = "q", labels: Mapping[str, str] | None = None
) -> Item:
    turn = Turn(1, "<ImageHere>\nWhat is it?", (1,), {"key": key} if key else {})
    return Item(item_id, (turn,), ("sha",), choices, labels=labels or {})


def text_of(ask: Ask) -> str:
    """The text of what is asked."""
    return "".join(part.text for part in ask.messages[-1].parts if isinstance(part, Text))


def run(
    benchmark: Benchmark,
    of: Item,
    reply: Callable[[Ask], str | None],
    extract: Callable[[Extract], str | None] = lambda step: step.by_rule,
    status: str = "answered",
) -> tuple[list[Asking], Transcript]:
    """What was asked, and the transcript; a reply that is None is one without a text."""

    def answer(ask: Ask) -> Answer:
        text = reply(ask)
        return Answer("refused") if text is None else Answer(status, text, "call")  # type: ignore[arg-type]

    steps = drive(benchmark.ask(of, Limits()), answer, extract)
    asks = [step for step in steps if isinstance(step, Ask)]
    reads = [step for step in steps if isinstance(step, Extract)]
    return steps, Transcript(
        {(ask.trial, ask.turn): answer(ask) for ask in asks},
        {(step.trial, step.turn): extract(step) for step in reads},
    )


def observed(benchmark: Benchmark, of: Item, transcript: Transcript) -> list[Observation]:
    return replay(benchmark.judge(of, transcript), {})


def scored(benchmark: Benchmark, of: Item, transcript: Transcript) -> list[Scored]:
    """The observations as metrics take them."""
    labels = labels_by_turn(of)
    return [
        Scored(
            of.item_id,
            of.cluster,
            each.trial,
            each.turn,
            each.metric,
            each.value,
            each.status,
            transcript.answer(each.trial, each.turn).status == "refused",
            labels[each.turn],
        )
        for each in observed(benchmark, of, transcript)
    ]
