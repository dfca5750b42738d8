"""Conversations of a benchmark's items for other tools: messages with slots for the model's answers."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from methods.choice.lettered import LETTERS
from methods.evaluation.asking import Answer, AnswerRequest, Asking, AskingLimits, ExtractionRequest
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.cells import FileRow
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.indexes import known_id, whole_id
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionFormats, PredictionKey, Unplaced, place_of
from methods.ids import content_id
from methods.prompts.messages import IMAGE_HERE, Message, Text

TRIAL = "trial"
"""The column that names the trial of a row."""


class ModelAnswerSlot(NamedTuple):
    """The position of the model's answer to a turn."""

    turn: int


class Conversation(NamedTuple):
    """The messages of a trial of an item, as `run evaluate` sends them. The last one is the slot of the
    answer to the last turn.

    Attributes:
        target: The letter of the right choice, or the reference of the last turn; empty if it is not
            published.
        choices: The texts of the choices in the order of their letters; empty if no letter is asked
            for.
    """

    item_id: str
    trial: str
    messages: tuple[Message | ModelAnswerSlot, ...]
    target: str
    choices: tuple[str, ...] = ()

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns that the model answers."""
        return tuple(each.turn for each in self.messages if isinstance(each, ModelAnswerSlot))


def conversations(
    item: Item, benchmark: Benchmark | None, limits: AskingLimits
) -> Iterator[Conversation]:
    """List every conversation of an item, as an exported task asks it.

    Includes passes that an evaluation skips after a wrong answer.

    Args:
        item: The item.
        benchmark: The benchmark; without one the item is asked turn by turn.
        limits: The context policy and the limits of requests.

    Yields:
        The conversations; none if the release lacks an image of the item.
    """
    asks, choices = _requests(_with_positions(item), benchmark, limits)
    marks = {_mark(item, ask): ModelAnswerSlot(ask.turn) for ask in asks}
    last: list[AnswerRequest] = []
    for ask in asks:
        if last and _goes_on(last[-1], ask, marks):
            last[-1] = ask
        else:
            last.append(ask)
    for ask in last:
        messages = [
            marks.get(_text(message), message) if message.role == "assistant" else message
            for message in ask.messages
        ]
        shown = choices.get((ask.trial, ask.turn), item.choices)
        target = _target(item, ask, shown)
        yield Conversation(
            item.item_id, ask.trial, (*messages, ModelAnswerSlot(ask.turn)), target, shown
        )


class NamedPositions:
    """Finds the predictions of rows that name item, trial and turn; other rows are left to `forms`."""

    def __init__(
        self, benchmark: Benchmark | None, forms: PredictionFormats | None, limits: AskingLimits
    ) -> None:
        self._benchmark, self._forms, self._limits = benchmark, forms, limits

    def places(
        self, items: Sequence[Item], rows: Sequence[FileRow]
    ) -> list[PredictionKey | Unplaced]:
        """Match each row to its turn and pass.

        Args:
            items: The items of the release.
            rows: The rows of the file.

        Returns:
            For each row the key of its prediction, or the reason why there is none.
        """
        by_id = {item.item_id: item for item in items}
        others = [row for row in rows if not row.cells.get(TRIAL)]
        prediction_keys = iter(self._forms.places(items, others) if self._forms else [])
        places_of_item: dict[str, set[tuple[str, str]]] = {}
        results: list[PredictionKey | Unplaced] = []
        for row in rows:
            trial, turn = (
                row.cells.get(TRIAL),
                whole_id(row.where, "turn", row.cells.get("turn", "")),
            )
            item = by_id.get(known_id(row, "item_id", by_id))
            if not trial:
                results.append(next(prediction_keys, "unknown"))
            elif item is None:
                results.append("unknown")
            else:
                if item.item_id not in places_of_item:
                    places_of_item[item.item_id] = {
                        (request.trial, str(number))
                        for request in conversations(item, self._benchmark, self._limits)
                        for number in request.turns
                    }
                is_there = (trial, turn) in places_of_item[item.item_id]
                results.append(place_of(item, trial, int(turn)) if is_there else "unknown_pass")
        return results


def _requests(
    item: Item, benchmark: Benchmark | None, limits: AskingLimits
) -> tuple[list[AnswerRequest], Mapping[tuple[str, int], tuple[str, ...]]]:
    """Collect every `AnswerRequest` of an item, and the order of the choices in each."""
    # Without a key no answer is wrong, so every pass is asked.
    turns = tuple(
        replace(
            turn, references={kind: text for kind, text in turn.references.items() if kind != "key"}
        )
        for turn in item.turns
    )
    keyless = replace(item, turns=turns)
    asking: Generator[Asking, Any, None] = (
        benchmark.ask(keyless, limits) if benchmark else ask_dialogue(keyless, limits)
    )
    asks: list[AnswerRequest] = []
    choices: dict[tuple[str, int], tuple[str, ...]] = {}
    came: Answer | str | None = None
    while True:
        try:
            step = asking.send(came)
        except StopIteration:
            return asks, choices
        came = None
        if isinstance(step, AnswerRequest):
            came = Answer("answered", _mark(item, step))
            if step.lacks is None:
                asks.append(step)
        elif isinstance(step, ExtractionRequest):
            choices[step.trial, step.turn] = step.choices
            came = LETTERS[0]


def _with_positions(item: Item) -> Item:
    """Add a placeholder to the text for each image without one, at the beginning of its turn."""
    turns = []
    for turn in item.turns:
        lacking = len(turn.image_positions) - turn.question.count(IMAGE_HERE)
        turns.append(replace(turn, question=IMAGE_HERE * lacking + turn.question))
    return replace(item, turns=tuple(turns))


def _mark(item: Item, ask: AnswerRequest) -> str:
    """Compute a unique text that stands for an answer."""
    return content_id("answer", item.item_id, ask.trial, ask.turn)


def _goes_on(
    before: AnswerRequest, ask: AnswerRequest, marks: Mapping[str, ModelAnswerSlot]
) -> bool:
    """Whether `ask` continues the conversation of `before`."""
    n = len(before.messages)
    return (
        ask.trial == before.trial
        and len(ask.messages) > n
        and ask.messages[:n] == before.messages
        and ask.messages[n].role == "assistant"
        and marks.get(_text(ask.messages[n])) == ModelAnswerSlot(before.turn)
    )


def _text(message: Message) -> str:
    return "".join(part.text for part in message.parts if isinstance(part, Text))


def _target(item: Item, ask: AnswerRequest, choices: Sequence[str]) -> str:
    references = item.turns[ask.turn - 1].references if ask.turn <= len(item.turns) else {}
    key = references.get("key")
    if key and item.choices:
        right = item.choices[LETTERS.index(key)]
        return LETTERS[choices.index(right)] if right in choices else key
    return references.get("answer", "")
