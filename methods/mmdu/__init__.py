"""MMDU: multi-turn, multi-image dialogues, scored turn by turn by an LLM judge (MMDU, 2.3).

Modules of this package compose dialogues, parse the judge's scores and read the published JSON format.
"""

from collections.abc import Generator

from methods.evaluation.asking import PLAIN, Answer, Asking, AskingLimits, Transcript
from methods.evaluation.benchmark import Benchmark
from methods.evaluation.dialogue import ask_dialogue
from methods.evaluation.grades import HIGHEST, LOWEST
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import judge_turns, numbered_question, seen_turns
from methods.evaluation.judging import JudgeRequest, Judging, JudgmentKey
from methods.evaluation.metrics.mean import Mean
from methods.mmdu import published as published_forms
from methods.mmdu.judging import DIMENSIONS, GRADES_SCHEMA, OVERALL, read_judgment
from methods.prompts.messages import with_image_numbers

JUDGE_PROMPT = "mmdu/judge"
SCALE = 10.0
TURN = "turn"
"""The part of a judgment. Each turn has one part."""


class Mmdu(Benchmark):
    """MMDU: a model gets the dialogue turn by turn, with its own answers as history.

    Each image is shown from the turn on that needs it first.
    """

    name = "mmdu"
    answer_version = "dialogue@1"
    context_policies = ("truncate", "tile")
    judge_prompts = (JUDGE_PROMPT,)
    judge_version = "turns@4"
    dimensions = DIMENSIONS
    score_range = (LOWEST, HIGHEST)
    published = published_forms
    metrics = tuple(
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
    """The score of a dimension is its mean x 10: micro is the mean over turns, as in the released code;
    macro is the mean over dialogues, as in the text of the paper."""

    def ask(self, item: Item, limits: AskingLimits) -> Generator[Asking, Answer, None]:
        """Ask turn by turn with the model's own answers as history.

        The paper does not mention dialogues that are too long; the limits define a policy.
        """
        yield from ask_dialogue(item, limits)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Judge each turn on seven scores, with the dialogue up to it, its reference and the images
        shown so far.

        Earlier turns have the answers that the model saw: its own, or the given ones of reference
        turns. The authors' released scorer sends only question, reference and answer, with all images
        of the dialogue, also those of later turns.
        """

        dialogue = seen_turns(item, transcript)

        def request(turn: Turn, reference: str, answer: str) -> JudgeRequest:
            n_shown = sum(len(e.image_positions) for e in item.turns[: turn.turn])
            return JudgeRequest(
                JudgmentKey(PLAIN, turn.turn, TURN),
                JUDGE_PROMPT,
                {
                    "earlier": dialogue[: turn.turn - 1],
                    "question": numbered_question(turn),
                    "reference": with_image_numbers(reference),
                    "answer": with_image_numbers(answer),
                },
                item.image_ids[:n_shown],
                read_judgment,
                GRADES_SCHEMA,
            )

        return (yield from judge_turns(item, transcript, DIMENSIONS, request))
