"""MMDU: multi-turn, multi-image dialogues, judged turn by turn (MMDU, 2.3).

What belongs here: MMDU's implementation of the `Benchmark` protocol. Composing dialogues, judging and
the published JSON format are modules beside this one.
"""

from collections.abc import Sequence

from methods.evaluation.benchmark import Item, Judgment
from methods.mmdu.judging import (
    DIMENSIONS,
    GRADES_SCHEMA,
    HIGHEST,
    LOWEST,
    OVERALL,
    parse_grades,
)
from methods.prompts.messages import Message, interleave
from methods.prompts.template import PromptTemplate


class Mmdu:
    """The model gets the dialogue turn by turn with its own answers; images enter at their turn."""

    name = "mmdu"
    judge_prompt = "mmdu/judge"
    judgment_schema = GRADES_SCHEMA
    answer_version = "dialogue@1"
    dimensions: Sequence[str] = DIMENSIONS
    score_range = (LOWEST, HIGHEST)
    scale = 10.0

    def messages(self, item: Item, turn: int, answers: Sequence[str]) -> tuple[Message, ...]:
        """Every user turn up to `turn`, each earlier one followed by the model's own answer."""
        messages: list[Message] = []
        for asked in item.turns[:turn]:
            images = [item.image_ids[position - 1] for position in asked.image_positions]
            messages.append(Message("user", interleave(asked.question, images)))
            if asked.turn < turn:
                messages.append(Message.of("assistant", answers[asked.turn - 1]))
        return tuple(messages)

    def judge_messages(
        self, item: Item, turn: int, answer: str, prompt: PromptTemplate
    ) -> tuple[Message, ...]:
        """Question, reference, answer and all images up to this turn, as in the released scorer."""
        asked = item.turns[turn - 1]
        n_shown = sum(len(earlier.image_positions) for earlier in item.turns[:turn])
        return prompt.render(
            images=item.image_ids[:n_shown],
            question=asked.question,
            reference=asked.reference,
            answer=answer,
        )

    def parse_judgment(self, reply: str) -> Judgment:
        """All seven scores; the overall score is that of the turn. Raises ParseError."""
        grades = parse_grades(reply)
        return Judgment(grades.scores, grades.scores[OVERALL], grades.explanation)
