"""One pass over a multiple-choice question: asked in an order of its choices, read, judged by rule.

What belongs here: what is the same for every benchmark of this form. Which passes there are, and in
which order each has the choices, is the benchmark's.
"""

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from methods.choice.compat import compat
from methods.choice.extraction import EXTRACT_PROMPT, extract_data, letter_reader
from methods.choice.lettered import Order, asked, in_order, key_of, letter_in
from methods.choice.strict import strict
from methods.evaluation.asking import Asking, Extract, Limits, Transcript
from methods.evaluation.dialogue import Dialogue
from methods.evaluation.items import Item
from methods.evaluation.judging import Observation, unjudged

RIGHT = "right"
RIGHT_COMPAT = "right (compat)"
OBSERVED = (RIGHT_COMPAT, RIGHT)
"""Of each pass: 1 where the letter is that of the right choice, else 0, under both readings."""
TURN = 1


class Letters(NamedTuple):
    """The letters read from one answer; None where the extractor's reading was lost."""

    strict: str | None
    compat: str | None


def ask_pass(
    item: Item, trial: str, order: Order, below: str, limits: Limits
) -> Generator[Asking, Any, Letters | None]:
    """Ask the question in an order, `below` standing under it, and read the answer.

    Every pass of an item leaves out the same images where all of them are too many (`dialogue.py`).
    None where the model gave no text.
    """
    dialogue = Dialogue(trial, limits.context_policy, item.item_id)
    dialogue.put_message(asked(item, below))
    answer = yield from dialogue.ask(TURN)
    if answer.text is None:
        return None
    texts = in_order(item.choices, order)
    letter = yield Extract(
        trial,
        TURN,
        strict(answer.text, texts).letter,
        EXTRACT_PROMPT,
        extract_data(item.turns[0].question, texts, answer.text),
        letter_reader(len(texts)),
        texts,
    )
    # Where VLMEvalKit's rules read nothing, it asks a model, too.
    return Letters(letter, compat(answer.text, texts) or letter)


def missed(letters: Letters, right: str) -> bool:
    """Whether the pass is lost under both readings: it is known not to be right."""
    return None not in letters and right not in letters


def observe(
    item: Item, transcript: Transcript, order_of: Callable[[Item, str], Order]
) -> list[Observation]:
    """Both observations of every pass that there is; `order_of` gives a trial's order."""
    key = key_of(item)
    found = []
    for (trial, turn), answer in transcript.answers.items():
        if key is None:
            found += [Observation(metric, trial, turn, "no_reference") for metric in OBSERVED]
            continue
        if answer.text is None:
            found += unjudged(OBSERVED, trial, turn, answer)
            continue
        order = order_of(item, trial)
        letter = transcript.readings.get((trial, turn))
        right = letter_in(order, key)
        read = {
            RIGHT_COMPAT: compat(answer.text, in_order(item.choices, order)) or letter,
            RIGHT: letter,
        }
        found += [
            Observation(metric, trial, turn, "not_judged")
            if said is None
            else Observation(metric, trial, turn, "judged", float(said == right))
            for metric, said in read.items()
        ]
    return found
