"""MMIU: multiple-choice questions on several images, in 52 tasks (MMIU, 3 and 4.1)."""

from collections.abc import Generator, Sequence
from typing import Any

from methods.choice.lettered import Order, original_order, shuffled
from methods.choice.passes import EXTRACT_PROMPT, OBSERVED, RIGHT, RIGHT_COMPAT, ask_passes, observe
from methods.evaluation.asking import PLAIN, Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics import BY_LABEL, Metric
from methods.evaluation.metrics.all_right import AllRight
from methods.evaluation.metrics.mean import Mean, MeanOrRefused, MeanWithoutRefused
from methods.mmiu import predictions as prediction_forms
from methods.mmiu import published as published_forms
from methods.mmiu.published import CONTEXT
from methods.mmiu.taxonomy import ANSWERABLE, RELATION, TASK

RETEST = "retest-1"
QUESTION_PROMPT = "mmiu/question"
BY_TASK = f"{BY_LABEL}{TASK}"


class Mmiu(Benchmark):
    """MMIU: each question is asked once with context, lettered choices and a hint. The letter of the
    answer is extracted by rule or by a model.

    `Accuracy` is the mean over tasks, as in the paper, or over questions (micro), and is also split by
    relation and task. A refusal counts as wrong. `Upper bound` counts refusals as right, and `Accuracy,
    refusals left out` omits them, as the paper does for closed models.

    If a question has more images than a model accepts, the policy `sample` omits images, as in the
    paper, and `tile` sends all images as one numbered grid, as in the paper for single-image models.

    With `retest`, questions that were answered right are asked again with shuffled choices, in which
    every choice has another letter (position bias). `Accuracy, retested` is the share that is right
    both times. The paper does this for models that tend to repeat one option; here it is a separate
    metric for all models.
    """

    name = "mmiu"
    context_policies = ("sample", "tile")
    question_prompts = (QUESTION_PROMPT,)
    extractor_prompts = (EXTRACT_PROMPT,)
    judge_version = "letter@2"
    dimensions = OBSERVED
    abilities = (RELATION, TASK)
    label_metrics = {(TASK, ANSWERABLE): "Accuracy"}
    published = published_forms
    predictions = prediction_forms

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
        """Ask the question, and with `retest` once more if it was not missed."""
        trials = (PLAIN, RETEST) if self._retest else (PLAIN,)
        orders = {trial: order_of(item, trial) for trial in trials}
        yield from ask_passes(item, orders, QUESTION_PROMPT, CONTEXT, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Score each answer by rule: 1 if its letter is that of the right choice."""
        yield from ()
        return observe(item, transcript, order_of)


def order_of(item: Item, trial: str) -> Order:
    """Return the order of the choices in a trial: the original order, or shuffled by the item's id.

    Args:
        item: The item.
        trial: The trial.
    """
    n_choices = len(item.choices)
    return original_order(n_choices) if trial == PLAIN else shuffled(n_choices, item.item_id)
