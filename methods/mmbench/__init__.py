"""MMBench: multiple choice with one image and circular evaluation (CircularEval): each question is
asked once for each position of the right choice (MMBench, 4).
"""

from collections.abc import Generator
from typing import Any

from methods.choice.lettered import SHIFT, Order, shifted
from methods.choice.passes import EXTRACT_PROMPT, OBSERVED, RIGHT, RIGHT_COMPAT, ask_passes, observe
from methods.evaluation.asking import Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.items import Item
from methods.evaluation.judging import Judging
from methods.evaluation.metrics.all_right import AllRight, AllRightOrRefused
from methods.evaluation.metrics.composite import difference
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


class Mmbench(Benchmark):
    """MMBench: CircularEval shifts the choices, one pass for each position. An item is right if all its
    passes are right.

    Scores are the percentage of right questions, overall and by level of ability (labels `l1-category`,
    `l2-category` and `category`). `Vanilla` is the score of the first pass alone, `Gap` is `Vanilla`
    minus `Circular`. `Upper bound` counts every refused pass as right (Table 4). `(compat)` metrics
    extract letters as VLMEvalKit does; there, too, a pass without an answer never counts as right.
    """

    name = "mmbench"
    answer_version = "circular@2"
    question_prompts = (QUESTION_PROMPT,)
    extractor_prompts = (EXTRACT_PROMPT,)
    judge_version = "letter@2"
    dimensions = OBSERVED
    abilities = (L1, L2, L3)
    published = published_forms
    predictions = prediction_forms
    metrics = (
        CIRCULAR,
        VANILLA,
        difference("Gap", VANILLA, CIRCULAR),
        AllRightOrRefused(name="Upper bound", observation=RIGHT, trials=SHIFT, n_passes=CHOICES),
        CIRCULAR_COMPAT,
        VANILLA_COMPAT,
    )

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Ask every pass up to the first one that is wrong under both extractions.

        Without a key, as in a test split, every pass is asked.
        """
        trials = [f"{SHIFT}{shift}" for shift in range(len(item.choices))]
        orders = {trial: order_of(item, trial) for trial in trials}
        yield from ask_passes(item, orders, QUESTION_PROMPT, HINT, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Score each pass by rule: 1 if its letter is that of the right choice."""
        yield from ()
        return observe(item, transcript, order_of)


def order_of(item: Item, trial: str) -> Order:
    """Return the order of the choices in a trial `shift-k`.

    Args:
        item: The item.
        trial: The trial.
    """
    return shifted(len(item.choices), int(trial.removeprefix(SHIFT)))
