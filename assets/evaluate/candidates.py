"""Candidates (models under evaluation): models of the registry, ablations, baselines and imported
predictions.

A baseline asks no model: `baseline:reference` answers with the reference, `baseline:swapped-reference`
with the reference of another item, `baseline:empty` with an empty text. A trustworthy judge ranks the
first above all models and the other two last. `baseline:random` and `baseline:most-frequent` answer
with a letter. `no-images:<model>` is a blind run: the model gets no images. `other-images:<model>` gets
the images of another item. The judge always gets the item's own images. If the release has no other
item to take images from, `other-images:<model>` fails, and the other candidates continue.
`file:<model>` has imported predictions.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.letter_shares import most_frequent_letters, random_letter
from methods.choice.strict import read_letter
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
from methods.model_text import says_nothing, without_reasoning
from methods.quality.multilingual_refusals import refusal_in
from resources.llm.model_calls import ModelCalls
from resources.llm.model_spec import ModelSpec
from resources.llm.registry import Registry
from resources.llm.request import ChatRequest, Completion

LETTER_WORDS = 10
"""Expected length in words of a reply that names a letter."""
Text = Callable[[Item, AnswerRequest], str | None]
Sent = Callable[[Messages, Item], Messages]
"""Changes the benchmark's messages before they are sent; may raise NoOtherImages."""


class LetterBaselineOptions(NamedTuple):
    """Options of the letter baselines: the seed, and the label by which `baseline:most-frequent` groups
    items (None: one group).
    """

    seed: int = 0
    label: str | None = None


ANY_LETTERS = LetterBaselineOptions()


class NoOtherItem(UserError):
    """`baseline:swapped-reference` has no answer: the release has no item of another group."""


class CandidateReply(NamedTuple):
    """The columns of a row of `evaluate.answers`. Without an answer, `loss` is a reason and a sentence.

    A `final` failure would not change if the request were sent again: it counts in the score of the
    candidate, not towards `max_failed_share`.
    """

    row: dict[str, Any]
    loss: tuple[str, str] | None = None
    final: bool = False


class Candidate(Protocol):
    """A candidate. `asks` is the name of the model that gets the requests, or the candidate's own name
    if there is none.
    """

    name: str
    asks: str
    provider: str

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """Answer one request.

        Args:
            calls: The model calls of the stage.
            ask: The request.
            item: The item.
            version: The version of the benchmark's requests.

        Returns:
            The reply.
        """
        ...


class ModelCandidate:
    """A model of the registry; `sent` changes the messages for ablations."""

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
        """Ask the model. A truncated reply is not an answer.

        No call is made, and the reply is a failure, if the release lacks an image of the request
        (except for `no-images`), or if `other-images` finds no images of another item.
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
            status = _status_of(outcome.text, item)
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
        """Return the baseline's text; it is empty if the release has no reference for the turn."""
        try:
            text = self._text(item, ask) or ""
        except NoOtherItem as error:
            return _not_made("no_other_item", error)
        return CandidateReply({"status": "answered", "answer": text, "call_key": None})


class ImportedPredictions:
    """Answers with the predictions of an imported file; no model is asked."""

    provider = FILE

    def __init__(self, name: str, texts: Mapping[PredictionKey, str]):
        self.name = self.asks = name
        self._texts = texts

    async def answer(
        self, calls: ModelCalls, ask: AnswerRequest, item: Item, version: str
    ) -> CandidateReply:
        """Return the imported prediction of the pass, without the model's reasoning.

        A missing prediction is a failure. A prediction that is empty or only reasoning is not an
        answer.
        """
        row: dict[str, Any] = {"answer": None, "call_key": None}
        text = self._texts.get(place_of(item, ask.trial, ask.turn))
        if text is None:
            lost = (
                "no_prediction",
                "The file has no prediction for this question, or several different ones.",
            )
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
        status = _status_of(predicted.answer, item)
        return CandidateReply({**row, "status": status, "answer": predicted.answer})


def _status_of(text: str, item: Item) -> str:
    """Return `refused` or `answered`. A refusal that also names a choice counts as an answer."""
    if refusal_in(text) is None:
        return "answered"
    chooses = bool(item.choices) and read_letter(text, item.choices).letter not in (None, NO_CHOICE)
    return "answered" if chooses else "refused"


def _not_made(reason: str, why: UserError | str) -> CandidateReply:
    """Return a failure without a call: the release lacks something that the candidate needs."""
    row = {"status": "failed", "answer": None, "call_key": None}
    return CandidateReply(row, (reason, str(why)))


def candidates_of(
    names: Sequence[str],
    registry: Registry,
    items: Sequence[Item],
    params: Mapping[str, float | int | str],
    letters: LetterBaselineOptions = ANY_LETTERS,
) -> list[Candidate]:
    """Create the candidates of these names for a release. Imported predictions are not among them.


    Args:
        names: Names of models of models.yaml, of their ablations, or of baselines.
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
        return "this workspace does not have the right answers"
    return None


def _sent(ablation: str | None, items: Sequence[Item]) -> Sent:
    """Return the function that changes the messages for an ablation."""
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
    """Return the reference answer of a turn, or else the text of the right choice."""
    references = item.turns[turn - 1].references
    if "answer" in references or "key" not in references:
        return references.get("answer")
    return item.choices[LETTERS.index(references["key"])]


def _swapped(items: Sequence[Item]) -> Text:
    """Return a function that gives the reference of the same turn in the next item of another group.

    If that item has fewer turns, it gives the reference of the last turn. It raises NoOtherItem if
    there is no such item.
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
