"""Contestants: the models of the registry, and the built-in baselines that calibrate a judge.

What belongs here: how each answers one `Ask`. A baseline asks no model: `baseline:reference` gives the
reference answer, `baseline:swapped-reference` that of another item, `baseline:empty` an empty text. A
judge that can be trusted puts the first above everything and the other two at the bottom.
"""

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from methods.errors import UserError
from methods.evaluation.asking import OWN_DOING, Ask
from methods.evaluation.items import Item
from methods.evaluation.refusals import is_refusal
from resources.llm.model_calls import ModelCalls
from resources.llm.registry import BASELINES, Registry
from resources.llm.request import ChatRequest, Completion

BASELINE = "baseline"
"""The provider of baselines."""
Text = Callable[[Item, int], str | None]


class ContestantReply(NamedTuple):
    """Columns of a row of `evaluate.answers`, and why it is no answer (a reason and a sentence)."""

    row: dict[str, Any]
    loss: tuple[str, str] | None = None


class Contestant(Protocol):
    """Who answers: a model or a baseline."""

    name: str
    provider: str

    async def answer(
        self, calls: ModelCalls, ask: Ask, item: Item, version: str
    ) -> ContestantReply:
        """The reply to one `Ask`; `version` is that of how the benchmark asks."""
        ...


class ModelContestant:
    """A model of the registry."""

    def __init__(self, name: str, provider: str, params: Mapping[str, float | int | str]):
        self.name, self.provider, self._params = name, provider, params

    async def answer(
        self, calls: ModelCalls, ask: Ask, item: Item, version: str
    ) -> ContestantReply:
        """What the model says; neither an error's text nor an answer that was cut off is one."""
        outcome = await calls.complete(
            ChatRequest(
                model=self.name,
                messages=ask.messages,
                prompt_version=version,
                params=self._params,
                in_a_grid=ask.in_a_grid,
            ),
            can_be_shorter=ask.can_be_shorter,
        )
        row = {
            "call_key": outcome.key,
            "finish_reason": outcome.finish_reason,
            "reasoning": outcome.reasoning,
        }
        if isinstance(outcome, Completion):
            status = "refused" if is_refusal(outcome.text) else "answered"
            return ContestantReply({**row, "status": status, "answer": outcome.text})
        status = outcome.kind if outcome.kind in OWN_DOING else "failed"
        lost = (outcome.kind, outcome.detail)
        return ContestantReply({**row, "status": status, "answer": None}, lost)


class Baseline:
    """Answers by rule from the items of a release; no model is asked."""

    provider = BASELINE

    def __init__(self, name: str, text: Text):
        self.name, self._text = name, text

    async def answer(
        self, calls: ModelCalls, ask: Ask, item: Item, version: str
    ) -> ContestantReply:
        """The baseline's text; an empty one where the release has no reference for the turn."""
        text = self._text(item, ask.turn) or ""
        return ContestantReply({"status": "answered", "answer": text, "call_key": None})


def contestants(
    names: Sequence[str],
    registry: Registry,
    items: Sequence[Item],
    params: Mapping[str, float | int | str],
) -> list[Contestant]:
    """The contestants of these names on a release with these items. Raises UserError."""
    texts: dict[str, Text] = {
        "baseline:reference": _reference,
        "baseline:swapped-reference": _swapped(items),
        "baseline:empty": lambda item, turn: "",
    }
    assert texts.keys() == set(BASELINES)
    return [
        Baseline(name, texts[name])
        if name in texts
        else ModelContestant(name, registry.model(name).provider, params)
        for name in names
    ]


def _reference(item: Item, turn: int) -> str | None:
    """The reference answer; where there is none, the text of the right choice."""
    references = item.turns[turn - 1].references
    if "answer" in references or "key" not in references:
        return references.get("answer")
    return item.choices[string.ascii_uppercase.index(references["key"])]


def _swapped(items: Sequence[Item]) -> Text:
    """The reference of the same turn, or its last one, of the next item.

    Raises UserError where there is no other item.
    """
    places = {item.item_id: place for place, item in enumerate(items)}

    def text(item: Item, turn: int) -> str | None:
        if len(items) < 2:
            raise UserError(
                "baseline:swapped-reference needs a release of two items or more: leave it out."
            )
        other = items[(places[item.item_id] + 1) % len(items)]
        return _reference(other, min(turn, len(other.turns)))

    return text
