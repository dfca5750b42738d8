"""MMBench: multiple choice with one image, asked once for each place of the right choice (4)."""

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from methods.choice.lettered import SHIFT, Order, key_of, letter_in, question_message, shifted
from methods.choice.passes import (
    EXTRACT_PROMPT,
    OBSERVED,
    RIGHT,
    RIGHT_COMPAT,
    ask_pass,
    is_lost,
    observe,
)
from methods.evaluation.asking import Asking, AskingLimits, ContextPolicy, Transcript
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.all_right import AllRight, AllRightOrRefused
from methods.evaluation.metrics.composite import difference
from methods.evaluation.predictions import PredictionFormats
from methods.evaluation.published import PublishedFormats
from methods.evaluation.slices import CHOICES
from methods.mmbench import predictions as prediction_forms
from methods.mmbench import published as published_forms
from methods.mmbench.published import HINT
from methods.mmbench.taxonomy import L1, L2, L3

QUESTION_PROMPT = "mmbench/question"
CIRCULAR, CIRCULAR_COMPAT = (
    AllRight(name=name, observation=observation, trials=SHIFT, n_passes=CHOICES)
    for name, observation in (("Circular", RIGHT), ("Circular (compat)", RIGHT_COMPAT))
)
VANILLA, VANILLA_COMPAT = (
    AllRight(name=name, observation=observation, trials=f"{SHIFT}0", n_passes=1)
    for name, observation in (("Vanilla", RIGHT), ("Vanilla (compat)", RIGHT_COMPAT))
)


class Mmbench:
    """The choices are shifted circularly, a pass for each place; right is what is right in all.

    Scores are the share of questions, in percent, by level of ability as the labels `l1-category`,
    `l2-category` and `category`. `Vanilla` is the first pass alone, `Gap` what it has more than
    `Circular`; `Upper bound` takes every declined pass for a right one (Table 4). `(compat)` reads
    letters as VLMEvalKit does, where a lost pass is never a gain either.
    """

    name = "mmbench"
    answer_version = "circular@2"
    context_policies: Sequence[ContextPolicy] = ()
    question_prompts: Sequence[str] = (QUESTION_PROMPT,)
    extractor_prompts: Sequence[str] = (EXTRACT_PROMPT,)
    judge_prompts: Sequence[str] = ()
    judge_version = "letter@2"
    dimensions: Sequence[str] = OBSERVED
    score_range = (0, 1)
    abilities: Sequence[str] = (L1, L2, L3)
    label_metrics: Mapping[tuple[str, ...], str] = {}
    published: PublishedFormats | None = published_forms
    predictions: PredictionFormats | None = prediction_forms
    metrics: Sequence[Metric] = (
        CIRCULAR,
        VANILLA,
        difference("Gap", VANILLA, CIRCULAR),
        AllRightOrRefused(name="Upper bound", observation=RIGHT, trials=SHIFT, n_passes=CHOICES),
        CIRCULAR_COMPAT,
        VANILLA_COMPAT,
    )

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Every pass until the first one that is missed under both readings.

        Without a key, as in a test split, every pass is asked.
        """
        template = limits.prompt(QUESTION_PROMPT)
        key = key_of(item)
        for shift in range(len(item.choices)):
            order = shifted(len(item.choices), shift)
            question = question_message(item, template, HINT, order)
            letters = yield from ask_pass(item, f"{SHIFT}{shift}", order, question, limits)
            if letters is None or (key and is_lost(letters, letter_in(order, key))):
                return

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """1 for a pass whose letter is that of the right choice, by rule."""
        yield from ()
        return observe(item, transcript, order_of)


def order_of(item: Item, trial: str) -> Order:
    """The order that the choices have in a trial `shift-k`."""
    return shifted(len(item.choices), int(trial.removeprefix(SHIFT)))
