"""MMDU: multi-turn, multi-image dialogues, judged turn by turn (MMDU, 2.3).

What belongs here: MMDU's implementation of the `Benchmark` protocol. Composing dialogues, reading the
judge's dictionary and the published JSON format are modules beside this one.
"""

from collections.abc import Generator, Sequence

from methods.evaluation.asking import (
    PLAIN,
    Answer,
    Asking,
    ContextPolicy,
    Given,
    Limits,
    Transcript,
    Unasked,
)
from methods.evaluation.dialogue import Dialogue
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import (
    AskJudge,
    Judging,
    Judgment,
    Observation,
    Place,
    observed,
    unjudged,
)
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from methods.mmdu.judging import (
    DIMENSIONS,
    GRADES_SCHEMA,
    HIGHEST,
    LOWEST,
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
    extractor_prompts: Sequence[str] = ()
    judge_prompts: Sequence[str] = (JUDGE_PROMPT,)
    judge_version = "turns@2"
    dimensions: Sequence[str] = DIMENSIONS
    score_range = (LOWEST, HIGHEST)
    abilities: Sequence[str] = ()
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

    def ask(self, item: Item, limits: Limits) -> Generator[Asking, Answer, None]:
        """Every turn after the earlier ones, each followed by the model's own answer.

        A turn without an answer ends the dialogue: later turns would need it in their history, and
        neither the text of an error nor an answer that was cut off is one. The paper says nothing of
        dialogues that are too long: what is done about them is the limits' (`dialogue.py`).
        """
        dialogue = Dialogue(PLAIN, limits.context_policy)
        ended_by = None
        for turn in item.turns:
            if turn.given is not None:
                yield Given(PLAIN, turn.turn, turn.given)
            elif ended_by is not None:
                yield Unasked(PLAIN, turn.turn, f"Turn {ended_by} has no answer.")
            if ended_by is not None:
                continue
            images = [item.image_ids[position - 1] for position in turn.image_positions]
            dialogue.put(turn.question, images)
            if turn.given is not None:
                dialogue.reply(turn.given)
                continue
            answer = yield from dialogue.ask(turn.turn)
            if answer.text is None:
                ended_by = turn.turn
            else:
                dialogue.reply(answer.text)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """The dialogue up to the turn, its reference, the images shown up to it; all seven scores.

        The dialogue is the one that the model had: its own earlier answers, and given turns. The
        released scorer sends question, reference and answer alone, and all images of the dialogue,
        those of later turns too.
        """
        asked: list[AskJudge] = []
        observations: list[Observation] = []
        for turn in item.turns:
            if turn.given is not None:
                continue
            answer = transcript.answer(PLAIN, turn.turn)
            if turn.reference is None:
                observations += [
                    Observation(dimension, PLAIN, turn.turn, "no_reference")
                    for dimension in DIMENSIONS
                ]
            elif answer.text is None:
                observations += unjudged(DIMENSIONS, PLAIN, turn.turn, answer)
            else:
                n_shown = sum(len(e.image_positions) for e in item.turns[: turn.turn])
                asked.append(
                    AskJudge(
                        Place(PLAIN, turn.turn, TURN),
                        JUDGE_PROMPT,
                        {
                            "earlier": _before(item, transcript, turn.turn),
                            "question": _question(turn),
                            "reference": with_image_numbers(turn.reference),
                            "answer": with_image_numbers(answer.text),
                        },
                        item.image_ids[:n_shown],
                        read_judgment,
                        GRADES_SCHEMA,
                    )
                )
        judgments = yield asked
        for request, judgment in zip(asked, judgments, strict=True):
            observations += observed(DIMENSIONS, request.place, judgment)
        return observations


def _question(turn: Turn) -> str:
    return with_image_numbers(turn.question, turn.image_positions)


def _before(item: Item, transcript: Transcript, turn: int) -> list[dict[str, str]]:
    """The turns before one, as the model had them: its own answers, and given ones."""
    return [
        {
            "question": _question(each),
            "answer": with_image_numbers(
                each.given or transcript.answer(PLAIN, each.turn).text or ""
            ),
        }
        for each in item.turns
        if each.turn < turn
    ]


def read_judgment(reply: str) -> Judgment:
    """All seven scores; the overall score is that of the turn. Raises ParseError."""
    grades = parse_grades(reply)
    return Judgment(grades.scores, grades.scores[OVERALL], grades.explanation)
