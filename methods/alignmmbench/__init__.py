"""AlignMMBench: open questions in several wordings, rated by the rules of their task (section 4)."""

from collections.abc import Generator
from typing import Any

from methods.agreement.scores import FUZZY
from methods.alignmmbench import predictions as prediction_forms
from methods.alignmmbench import published as published_forms
from methods.alignmmbench.tasks import CATEGORIES, CATEGORY, CHINESE_NAMES, TASK
from methods.evaluation.asking import PLAIN, Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.grades import HIGHEST, LOWEST
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import judge_turns, numbered_question, seen_turns
from methods.evaluation.judging import JudgeRequest, Judging, JudgmentKey
from methods.evaluation.metrics import BY_LABEL
from methods.evaluation.metrics.group_spread import GroupSpread, ShareOverBand
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.missing_images import ask_with_missing_images
from methods.evaluation.rating import RATING, RATING_SCHEMA, read_rating
from methods.words import is_chinese

JUDGE_CHINESE_PROMPT = "alignmmbench/judge_zh"
JUDGE_ENGLISH_PROMPT = "alignmmbench/judge_en"
ANSWER = "answer"
"""The name of the part of a judgment: each turn has one part."""
MEAN = "Rating"
MOST_SPREAD = (HIGHEST - LOWEST) / 2


class Alignmmbench(Benchmark):
    """AlignMMBench: the history is given, the last question is asked, and a judge rates the answer from
    1 to 10.

    `Rating` is the mean over the means of tasks, as in the paper (Table 3: `Avg` is the mean of its 13
    columns), over the means of categories, or over questions (`micro`). The wordings of one question
    are a group. `Mean deviation`, its inverse `Alignment score` (infinite if the ratings of each group
    are equal) and `Over a band` measure how stable a model is within groups.

    The judge reads the reference and gets no image, as in the paper; with `judge_sees_images` it gets
    the images.
    """

    name = "alignmmbench"
    answer_version = "given-history@1"
    context_policies = ("truncate", "tile")
    judge_prompts = (JUDGE_CHINESE_PROMPT, JUDGE_ENGLISH_PROMPT)
    dimensions = (RATING,)
    abilities = (CATEGORY, TASK)
    published = published_forms
    predictions = prediction_forms
    score_range = (LOWEST, HIGHEST)
    metrics = (
        *(
            Mean(name=MEAN, lowest=LOWEST, highest=HIGHEST, aggregation=aggregation)
            for aggregation in (f"{BY_LABEL}{TASK}", "micro", f"{BY_LABEL}{CATEGORY}")
        ),
        GroupSpread(
            name="Mean deviation",
            observation=RATING,
            lowest=MOST_SPREAD,
            inverse=False,
            higher_is_better=False,
        ),
        GroupSpread(name="Alignment score", observation=RATING, lowest=MOST_SPREAD),
        ShareOverBand(name="Over a band", observation=RATING, bands=FUZZY),
    )

    def __init__(self, *, judge_sees_images: bool = False):
        self._judge_sees_images = judge_sees_images
        self.judge_version = "rated-with-images@4" if judge_sees_images else "rated@4"

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Any, None]:
        """Ask the last question after the given history, also if an image is missing."""
        yield from ask_with_missing_images(
            item, lambda without_pictures: ask_dialogue(without_pictures, limits)
        )

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Judge the answer with question, history and reference, by the rules of its task."""

        dialogue = seen_turns(item, transcript)

        def request(turn: Turn, reference: str, answer: str) -> JudgeRequest:
            label = item.labels.get(TASK, "")
            # The prompt has the task among its instructions, and a release may have any label.
            task = label if label in CATEGORIES else ""
            return JudgeRequest(
                JudgmentKey(PLAIN, turn.turn, ANSWER),
                JUDGE_CHINESE_PROMPT if is_chinese(turn.question) else JUDGE_ENGLISH_PROMPT,
                {
                    "task": task,
                    "name": CHINESE_NAMES.get(task, task),
                    "earlier": dialogue[: turn.turn - 1],
                    "question": numbered_question(turn),
                    "reference": reference,
                    "answer": answer,
                },
                item.image_ids if self._judge_sees_images else (),
                read_rating,
                RATING_SCHEMA,
            )

        return (yield from judge_turns(item, transcript, self.dimensions, request))
