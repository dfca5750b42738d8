"""MMDU: multi-turn, multi-image dialogues, judged turn by turn (MMDU, 2.3).

Composing dialogues, reading the judge's dictionary and the published JSON format are modules beside
this one.
"""

from collections.abc import Generator, Mapping, Sequence

from methods.evaluation.asking import PLAIN, Answer, Asking, AskingLimits, ContextPolicy, Transcript
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.grades import HIGHEST, LOWEST
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import earlier_turns, judge_turns, numbered_question
from methods.evaluation.judging import JudgeRequest, Judging, Judgment, JudgmentKey
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from methods.evaluation.predictions import PredictionFormats
from methods.evaluation.published import PublishedFormats
from methods.mmdu import published as published_forms
from methods.mmdu.judging import (
    DIMENSIONS,
    GRADES_SCHEMA,
    OVERALL,
    parse_grades,
)
from methods.prompts.messages import with_image_numbers

JUDGE_PROMPT = "mmdu/judge"
SCALE = 10.0
TURN = "turn"
"""The part of a judgment: there is one a turn."""


class Mmdu:
    """The model gets the dialogue turn by turn with its own answers; images enter at their turn."""

    name = "mmdu"
    answer_version = "dialogue@1"
    context_policies: Sequence[ContextPolicy] = ("truncate", "tile")
    question_prompts: Sequence[str] = ()
    extractor_prompts: Sequence[str] = ()
    judge_prompts: Sequence[str] = (JUDGE_PROMPT,)
    judge_version = "turns@4"
    dimensions: Sequence[str] = DIMENSIONS
    score_range = (LOWEST, HIGHEST)
    abilities: Sequence[str] = ()
    label_metrics: Mapping[tuple[str, ...], str] = {}
    published: PublishedFormats | None = published_forms
    predictions: PredictionFormats | None = None
    metrics: Sequence[Metric] = tuple(
        Mean(
            name=dimension,
            lowest=LOWEST * SCALE,
            highest=HIGHEST * SCALE,
            scale=SCALE,
            aggregation=aggregation,
        )
        for dimension in (OVERALL, *DIMENSIONS[:-1])
        for aggregation in ("micro", "macro")
    )
    """A dimension's score is its mean x 10: over turns as the released code has it, and over dialogues
    as the text has it."""

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Answer, None]:
        """Ask turn by turn with the model's own answers as history.

        The paper does not mention dialogues that are too long; the limits define a policy.

        Args:
            item: The item.
            limits: The context policy and the limits of requests.
        """
        yield from ask_dialogue(item, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Judge each turn with the dialogue up to it, its reference and the images shown so far, on
        seven scores.

        The judge sees the dialogue as the model had it: its own earlier answers, and given turns. The
        released scorer sends only question, reference and answer, and all images of the dialogue, also
        those of later turns.

        Args:
            item: The item.
            transcript: The answers.
        """

        def request(turn: Turn, reference: str, answer: str) -> JudgeRequest:
            n_shown = sum(len(e.image_positions) for e in item.turns[: turn.turn])
            return JudgeRequest(
                JudgmentKey(PLAIN, turn.turn, TURN),
                JUDGE_PROMPT,
                {
                    "earlier": earlier_turns(item, transcript, turn.turn),
                    "question": numbered_question(turn),
                    "reference": with_image_numbers(reference),
                    "answer": with_image_numbers(answer),
                },
                item.image_ids[:n_shown],
                read_judgment,
                GRADES_SCHEMA,
            )

        return (yield from judge_turns(item, transcript, DIMENSIONS, request))


def read_judgment(reply: str) -> Judgment:
    """Read all seven scores of a reply; the overall score is that of the turn. Raises ParseError."""
    grades = parse_grades(reply)
    return Judgment(grades.scores, grades.scores[OVERALL], grades.explanation)
