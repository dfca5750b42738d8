"""MMIU: multiple choice over several images, in 52 tasks (MMIU, 3 and 4.1)."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from methods.choice.lettered import (
    Order,
    key_of,
    letter_in,
    original_order,
    question_message,
    shuffled,
)
from methods.choice.passes import (
    EXTRACT_PROMPT,
    OBSERVED,
    RIGHT,
    RIGHT_COMPAT,
    ask_pass,
    is_lost,
    observe,
)
from methods.evaluation.asking import PLAIN, Asking, AskingLimits, ContextPolicy, Transcript
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics import BY_LABEL, Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.mean import Mean, MeanOrRefused, MeanWithoutRefused
from methods.evaluation.predictions import PredictionFormats
from methods.evaluation.published import PublishedFormats
from methods.mmiu import predictions as prediction_forms
from methods.mmiu import published as published_forms
from methods.mmiu.published import CONTEXT
from methods.mmiu.taxonomy import ANSWERABLE, RELATION, TASK

RETEST = "retest-1"
QUESTION_PROMPT = "mmiu/question"
BY_TASK = f"{BY_LABEL}{TASK}"


class Mmiu:
    """Context, question, lettered choices and a hint, asked once; a letter by rule, else by a model.

    `Accuracy` is the mean over tasks, which count alike, as the paper has it, and over questions;
    relations and tasks are labels that it is split by. A refusal counts as a miss. `Upper bound` takes
    it for right, and `Accuracy, refusals left out` leaves it out, as the paper does for closed models.

    Where the images of a question are too many for a model, the policy `sample` leaves out as many as
    it takes, as the paper does, and `tile` sends one numbered picture of all, as it does for models of
    one image.

    With `retest`, what was right is asked again with the choices shuffled, so that none keeps its
    letter, and counts as `Accuracy, retested` if it is right again. The paper does so for models that
    tend to repeat one option; here it is a figure of its own, the same for all models.
    """

    name = "mmiu"
    context_policies: Sequence[ContextPolicy] = ("sample", "tile")
    question_prompts: Sequence[str] = (QUESTION_PROMPT,)
    extractor_prompts: Sequence[str] = (EXTRACT_PROMPT,)
    judge_prompts: Sequence[str] = ()
    judge_version = "letter@2"
    dimensions: Sequence[str] = OBSERVED
    score_range = (0, 1)
    abilities: Sequence[str] = (RELATION, TASK)
    label_metrics: Mapping[tuple[str, ...], str] = {(TASK, ANSWERABLE): "Accuracy"}
    published: PublishedFormats | None = published_forms
    predictions: PredictionFormats | None = prediction_forms

    def __init__(self, *, retest: bool = False):
        self._retest = retest
        self.answer_version = "retested@2" if retest else "once@2"
        once = [
            kind(
                name=name,
                observation=observed,
                aggregation=over,
                scale=100.0,
                lowest=0.0,
                highest=100.0,
            )
            for kind, name, observed in (
                (Mean, "Accuracy", RIGHT),
                (Mean, "Accuracy (compat)", RIGHT_COMPAT),
                (MeanOrRefused, "Upper bound", RIGHT),
                (MeanWithoutRefused, "Accuracy, refusals left out", RIGHT),
            )
            for over in (BY_TASK, "micro")
        ]
        twice = [
            AllRight(
                name="Accuracy, retested",
                observation=RIGHT,
                trials=(PLAIN, RETEST),
                n_passes=2,
                aggregation=over,
            )
            for over in (BY_TASK, "micro")
        ]
        self.metrics: Sequence[Metric] = [*once, *(twice if retest else ())]

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """The question as it stands, and once more where it is to be retested and was not missed."""
        template, key = limits.prompt(QUESTION_PROMPT), key_of(item)
        for trial in (PLAIN, RETEST) if self._retest else (PLAIN,):
            order = order_of(item, trial)
            question = question_message(item, template, CONTEXT, order)
            letters = yield from ask_pass(item, trial, order, question, limits)
            if letters is None or (key and is_lost(letters, letter_in(order, key))):
                return

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """1 for an answer whose letter is that of the right choice, by rule."""
        yield from ()
        return observe(item, transcript, order_of)


def order_of(item: Item, trial: str) -> Order:
    """The order that the choices have in a trial; the item's id is the seed of the shuffled one."""
    n_choices = len(item.choices)
    return original_order(n_choices) if trial == PLAIN else shuffled(n_choices, item.item_id)
