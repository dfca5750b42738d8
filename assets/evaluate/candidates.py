"""Candidates: the models of the registry, and what calibrates them and their judges.

A baseline asks no model: `baseline:reference` gives the reference answer, `baseline:swapped-reference`
that of another item, `baseline:empty` an empty text. A judge that can be trusted puts the first above
everything and the other two at the bottom. `no-images:<model>` and `other-images:<model>` ask the model
without the images, or with those of another item: what it scores without looking. A judge is shown the
item's own images in any case. Where a release has no other item to take from, the answer is lost, and
other candidates go on. `baseline:random` and `baseline:most-frequent` say a letter; `file:<model>`
what an imported file has.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from methods.choice.letter_shares import most_frequent_letters, random_letter
from methods.choice.lettered import LETTERS
from methods.errors import UserError
from methods.evaluation.ablations import (
    Messages,
    NoOtherImages,
    images_of_others,
    with_images,
    without_images,
)
from methods.evaluation.asking import OWN_DOING, AnswerRequest
from methods.evaluation.candidates import (
    BASELINE,
    BASELINES,
    FILE,
    MOST_FREQUENT,
    NO_IMAGES,
    OTHER_IMAGES,
    RANDOM,
    ablation_of,
    model_of,
)
from methods.evaluation.items import Item
from methods.evaluation.predictions import PredictionKey, place_of
from methods.evaluation.refusals import is_refusal
from methods.model_text import says_nothing, without_reasoning
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, Completion

LETTER_WORDS = 10
"""Words of a likely reply to a question that asks for a letter."""
Text = Callable[[Item, AnswerRequest], str | None]
Sent = Callable[[Messages, Item], Messages]
"""The messages that are sent in place of those that the benchmark made; may raise NoOtherImages."""


class LetterBaselineOptions(NamedTuple):
    """What the baselines that say letters go by: a seed, and the label whose values have a most
    frequent letter each (None: all items have one)."""

    seed: int = 0
    label: str | None = None


ANY_LETTERS = LetterBaselineOptions()


class NoOtherItem(UserError):
    """No other item of the release lends its reference to `baseline:swapped-reference`."""


class CandidateReply(NamedTuple):
    """Columns of a row of `evaluate.answers`, and why it is no answer (a reason and a sentence).

    A loss is `final` where asking again would give nothing else: it counts in the candidate's scores,
    and not against `max_failed_share`, like what a model does of its own.
    """

    row: dict[str, Any]
    loss: tuple[str, str] | None = None
    final: bool = False


class Candidate(Protocol):
    """Who answers; `asks` is the model that is asked, or the name of who asks none."""

    name: str
    asks: str
    provider: str

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """The reply to one `AnswerRequest`; `version` is that of how the benchmark asks."""
        ...


class ModelCandidate:
    """A model of the registry; `sent` are the messages that it gets."""

    def __init__(
        self,
        name: str,
        spec: ModelSpec,
        params: Mapping[str, float | int | str],
        sent: Sent,
    ):
        self.name, self.asks = name, spec.name
        self.provider: str = spec.provider
        self._params, self._sent = params, sent
        self._settings = spec.settings(params)

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """What the model says; neither an error's text nor an answer that was cut off is one.

        A question whose picture the release lacks is asked without images alone.

        Where no other item has images to send, the model is not asked, and the answer is lost.
        """
        if ask.lacks is not None and ablation_of(self.name) != NO_IMAGES:
            return _not_made("no_image", ask.lacks)
        try:
            messages = self._sent(ask.messages, item)
        except NoOtherImages as error:
            return _not_made("no_other_images", error)
        outcome = await calls.complete(
            ChatRequest(
                model=self.asks,
                messages=messages,
                prompt_version=version,
                params=self._params,
                in_a_grid=ask.in_a_grid,
                n_words=LETTER_WORDS if item.choices else None,
                candidate=self.name,
            ),
            can_be_shorter=ask.can_be_shorter,
        )
        row = {
            "call_key": outcome.key,
            "finish_reason": outcome.finish_reason,
            "reasoning": outcome.reasoning,
            "settings": {
                **self._settings,
                "version": outcome.answered_as or self._settings["model"],
                "prompt": version,
            },
        }
        if isinstance(outcome, Completion):
            status = "refused" if is_refusal(outcome.text) else "answered"
            return CandidateReply({**row, "status": status, "answer": outcome.text})
        status = outcome.kind if outcome.kind in OWN_DOING else "failed"
        lost = (outcome.kind, outcome.detail)
        final = outcome.kind in OWN_DOING
        return CandidateReply({**row, "status": status, "answer": None}, lost, final)


class Baseline:
    """Answers by rule from the items of a release; no model is asked."""

    provider = BASELINE

    def __init__(self, name: str, text: Text):
        self.name = self.asks = name
        self._text = text

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """The baseline's text; an empty one where the release has no reference for the turn."""
        try:
            text = self._text(item, ask) or ""
        except NoOtherItem as error:
            return _not_made("no_other_item", error)
        return CandidateReply({"status": "answered", "answer": text, "call_key": None})


class ImportedPredictions:
    """Answers what a file has; no model is asked. What the file lacks is not answered."""

    provider = FILE

    def __init__(self, name: str, texts: Mapping[PredictionKey, str]):
        self.name = self.asks = name
        self._texts = texts

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """The answer in the prediction for the pass, without the model's reasoning.

        A missing prediction failed. An empty one, or one that is all reasoning, is no answer.
        """
        row: dict[str, Any] = {"answer": None, "call_key": None}
        text = self._texts.get(place_of(item, ask.trial, ask.turn))
        if text is None:
            lost = "no_prediction", "The file has no prediction for this, or several that differ."
            return CandidateReply({**row, "status": "failed"}, lost, final=True)
        predicted = without_reasoning(text)
        row["reasoning"] = predicted.reasoning or None
        if predicted.reasoning_only:
            lost = (
                "reasoning_only",
                "The prediction is reasoning without an answer: it was cut off.",
            )
            return CandidateReply({**row, "status": "reasoning_only"}, lost, final=True)
        if says_nothing(predicted.answer):
            lost = "empty", "The file has an empty prediction for this."
            return CandidateReply({**row, "status": "empty"}, lost, final=True)
        status = "refused" if is_refusal(predicted.answer) else "answered"
        return CandidateReply({**row, "status": status, "answer": predicted.answer})


def _not_made(reason: str, why: UserError | str) -> CandidateReply:
    """A failure without a call: the release lacks what the candidate needs."""
    row = {"status": "failed", "answer": None, "call_key": None}
    return CandidateReply(row, (reason, str(why)))


def candidates_of(
    names: Sequence[str],
    registry: Registry,
    items: Sequence[Item],
    params: Mapping[str, float | int | str],
    letters: LetterBaselineOptions = ANY_LETTERS,
) -> list[Candidate]:
    """Find the candidates of these names on a release.

    Imported predictions are `ImportedPredictions`, which need no name.

    Args:
        names: Models of models.yaml, baselines, or models without their images.
        registry: The models.
        items: The items of the release.
        params: The sampling parameters.
        letters: The options of letter baselines.

    Returns:
        The candidates.

    Raises:
        UserError: A name is unknown.
    """
    most_frequent = most_frequent_letters(items, letters.label)
    texts: dict[str, Text] = {
        "baseline:reference": lambda item, ask: _reference(item, ask.turn),
        "baseline:swapped-reference": _swapped(items),
        "baseline:empty": lambda item, ask: "",
        RANDOM: lambda item, ask: random_letter(item, ask.trial, letters.seed),
        MOST_FREQUENT: lambda item, ask: most_frequent[item.item_id],
    }
    assert texts.keys() == set(BASELINES)
    candidates: list[Candidate] = []
    for name in names:
        if (model := model_of(name)) is None:
            candidates.append(Baseline(name, texts[name]))
        else:
            sent = _sent(ablation_of(name), items)
            candidates.append(ModelCandidate(name, registry.model(model), params, sent))
    return candidates


def exclusion_reason(
    name: str, items: Sequence[Item], letters: LetterBaselineOptions
) -> str | None:
    """Say why a candidate is not run on a release.

    Args:
        name: The name of the candidate.
        items: The items of the release.
        letters: The options of letter baselines.

    Returns:
        The reason; None if it is run.
    """
    if name in (RANDOM, MOST_FREQUENT) and not all(item.choices for item in items):
        return "it answers with a letter, and this is not a multiple-choice benchmark"
    letter_of = most_frequent_letters(items, letters.label) if name == MOST_FREQUENT else {}
    if name == MOST_FREQUENT and len(letter_of) < len(items):
        return "the right answers are not in this home"
    return None


def _sent(ablation: str | None, items: Sequence[Item]) -> Sent:
    """What is sent in place of the messages."""
    if ablation == NO_IMAGES:
        return lambda messages, item: without_images(messages)
    if ablation == OTHER_IMAGES:
        places = _places(items)
        return lambda messages, item: with_images(
            messages, images_of_others(items, places[item.item_id])
        )
    return lambda messages, item: messages


def _places(items: Sequence[Item]) -> dict[str, int]:
    return {item.item_id: place for place, item in enumerate(items)}


def _reference(item: Item, turn: int) -> str | None:
    """The reference answer; where there is none, the text of the right choice."""
    references = item.turns[turn - 1].references
    if "answer" in references or "key" not in references:
        return references.get("answer")
    return item.choices[LETTERS.index(references["key"])]


def _swapped(items: Sequence[Item]) -> Text:
    """The reference of the same turn, or its last one, of the next item of another group.

    What it gives raises NoOtherItem where there is none.
    """
    places = _places(items)

    def text(item: Item, ask: AnswerRequest) -> str | None:
        later = (items[(places[item.item_id] + step) % len(items)] for step in range(len(items)))
        other = next((candidate for candidate in later if candidate.cluster != item.cluster), None)
        if other is None:
            raise NoOtherItem(
                f"No item of another group than that of {item.item_id} is in the release, so "
                "baseline:swapped-reference has no answer to it."
            )
        return _reference(other, min(ask.turn, len(other.turns)))

    return text
