"""One circular pass over a multiple-choice question: ask it, extract the letter, score it by rule."""

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from methods.choice.alphabet import LETTERS, NO_CHOICE
from methods.choice.answer_extraction import compat, compat_letter
from methods.choice.lettered import (
    Order,
    choices_in_order,
    key_of,
    letter_in,
    question_message,
    with_letters,
)
from methods.choice.strict import read_letter
from methods.evaluation.asking import Asking, AskingLimits, ExtractionRequest, Transcript
from methods.evaluation.dialogue import Dialogue
from methods.evaluation.items import Item
from methods.evaluation.judging import Observation, unjudged_observations
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.slices import labels_by_turn
from methods.prompts.messages import IMAGE_HERE, Message
from methods.prompts.parsing import ParseError
from methods.unicode_forms import in_form


class QuestionPasses(NamedTuple):
    """The number of passes of a question that were asked, and whether one of them failed."""

    n_passes: int
    lost: bool


class PassCounts(NamedTuple):
    """Passes of a model: `n_all` = `n_asked` + `n_saved` (not needed) + `n_open` (after a failure)."""

    n_all: int
    n_asked: int
    n_saved: int
    n_open: int


def passes_by_item(items: Sequence[Item], metrics: Sequence[Metric]) -> dict[str, int]:
    """Count the passes of each question for the metric that needs the most passes.

    Args:
        items: The items.
        metrics: The metrics of the benchmark.

    Returns:
        The number of passes by item id.
    """
    needed = [metric for metric in metrics if isinstance(metric, AllRight)]
    return {
        item.item_id: max(
            (metric.passes_of(labels) for metric in needed for labels in [_labels(item)]), default=1
        )
        for item in items
    }


def pass_counts(
    n_passes: Mapping[str, int], passes_by_model: Mapping[str, Mapping[str, QuestionPasses]]
) -> dict[str, PassCounts]:
    """Count the passes of each model. Questions that a model was never asked do not count.

    Args:
        n_passes: The number of passes of each item, by its id.
        passes_by_model: The passes of each model and item.

    Returns:
        The counts by model.
    """
    counts = {}
    for model, of_items in passes_by_model.items():
        n_all = n_asked = n_open = 0
        for item_id, passes in of_items.items():
            n_all += max(n_passes[item_id], passes.n_passes)
            n_asked += passes.n_passes
            n_open += max(0, n_passes[item_id] - passes.n_passes) if passes.lost else 0
        counts[model] = PassCounts(n_all, n_asked, n_all - n_asked - n_open, n_open)
    return counts


def _labels(item: Item) -> Mapping[str, str]:
    return labels_by_turn(item)[item.turns[0].turn]


EXTRACT_PROMPT = "choice/extract"
_LETTER = re.compile(r"[\s\"'`*(\[]*([A-Za-z])[\s\"'`*)\].。]*")


def extract_data(question: str, choices: Sequence[str], answer: str) -> Mapping[str, Any]:
    """Build the variables of the extractor's prompt, with the choices in the order of the request."""
    return {
        "question": question.replace(IMAGE_HERE, "(image)"),
        "choices": with_letters(choices),
        "answer": answer,
    }


@cache
def letter_reader(n_choices: int) -> Callable[[str], str]:
    """Build the parser of the extractor's reply for `n_choices` choices: the letter of one, or Z.

    The parser raises ParseError for any other reply. The released scorers take a random letter after
    three such replies, or count an empty reply as right; here the answer has no letter.
    """
    letters = LETTERS[:n_choices] + NO_CHOICE

    def read(reply: str) -> str:
        match = _LETTER.fullmatch(in_form("NFKC", reply))
        if match is None or match[1].upper() not in letters:
            raise ParseError(
                "no_letter",
                f"The reply is not one letter of {', '.join(letters)} and nothing else.",
            )
        return match[1].upper()

    return read


RIGHT = "right"
RIGHT_COMPAT = "right (compat)"
OBSERVED = (RIGHT_COMPAT, RIGHT)
"""Observations of a pass, one for each extraction: 1 if the letter is right, else 0."""
TURN = 1


class ExtractedLetters(NamedTuple):
    """The letters extracted from one answer; None if the extractor gave none."""

    strict: str | None
    compat: str | None


def ask_passes(
    item: Item, orders: Mapping[str, Order], prompt: str, hint_name: str, limits: AskingLimits
) -> Generator[Asking, Any, None]:
    """Ask a question with its choices in one order after the other, and extract the letters.

    It ends with the first pass that gave no text or is wrong under both extractions. Without a key, as
    in a test split, every pass is asked. If an item has too many images, all its passes leave out the
    same ones (`dialogue.py`).

    Args:
        item: The item.
        orders: The order of choices of each pass.
        prompt: The prompt of a question.
        hint_name: The word before a hint.
        limits: The context policy and the limits of requests.

    Yields:
        Questions and extractions.
    """
    template, key = limits.prompt(prompt), key_of(item)
    for trial, order in orders.items():
        question = question_message(item, template, hint_name, order)
        letters = yield from _ask_pass(item, trial, order, question, limits)
        if letters is None or (key and is_lost(letters, letter_in(order, key))):
            return


def _ask_pass(
    item: Item, trial: str, order: Order, question: Message, limits: AskingLimits
) -> Generator[Asking, Any, ExtractedLetters | None]:
    """Ask one pass, and return the letters of both extractions; None if the model gave no text."""
    dialogue = Dialogue(trial, limits.context_policy, item.item_id)
    dialogue.put_message(question)
    answer = yield from dialogue.ask(TURN)
    if answer.text is None:
        return None
    texts = choices_in_order(item.choices, order)
    letter = yield ExtractionRequest(
        trial,
        TURN,
        read_letter(answer.text, texts).letter,
        EXTRACT_PROMPT,
        extract_data(item.turns[0].question, texts, answer.text),
        letter_reader(len(texts)),
        texts,
    )
    return ExtractedLetters(letter, compat_letter(compat(answer.text, texts), letter, texts))


def is_lost(letters: ExtractedLetters, right: str) -> bool:
    """Tell whether a pass is certainly wrong under both extractions.

    Args:
        letters: The letters of both extractions; None if a letter is not known.
        right: The right letter.

    Returns:
        True if both letters are known and wrong.
    """
    return None not in letters and right not in letters


def observe(
    item: Item, transcript: Transcript, order_of: Callable[[Item, str], Order]
) -> list[Observation]:
    """Build the observations of both extractions for every pass of a transcript.

    Args:
        item: The item.
        transcript: The answers and the extracted letters.
        order_of: Gives the order of choices in a pass.

    Returns:
        Two observations for each pass.
    """
    key = key_of(item)
    observations = []
    for (trial, turn), answer in transcript.answers.items():
        if key is None:
            observations += [
                Observation(metric, trial, turn, "no_reference") for metric in OBSERVED
            ]
            continue
        if answer.text is None:
            observations += unjudged_observations(OBSERVED, trial, turn, answer)
            continue
        order = order_of(item, trial)
        letter = transcript.readings.get((trial, turn))
        right = letter_in(order, key)
        texts = choices_in_order(item.choices, order)
        letters = {
            RIGHT_COMPAT: compat_letter(compat(answer.text, texts), letter, texts),
            RIGHT: letter,
        }
        observations += [
            Observation(metric, trial, turn, "not_judged")
            if letter is None
            else Observation(metric, trial, turn, "judged", float(letter == right))
            for metric, letter in letters.items()
        ]
    return observations
