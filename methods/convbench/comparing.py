"""The LLM judge of ConvBench (4.1): compares each answer with its reference, then whole conversations.

The judge does not know which answer is the model's: it sees Assistants A and B, and each pair in both
orders, with one request per order. When it compares whole conversations in an order, it also gets its
own verdicts on the single turns in that order. In some trials a model is given reference answers for
the first turns ("reference turns"). Both assistants then have the same text there: the judge is told
so, and does not compare these turns. The released scorer uses one order for each item, and declares the
side of the reference the winner of reference turns.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from methods.convbench.scores import N_GIVEN, OF_TURN, OVERALL, grade_of
from methods.evaluation.asking import Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judged_turns import numbered_question
from methods.evaluation.judging import (
    JudgeRequest,
    Judging,
    Judgment,
    JudgmentKey,
    Observation,
    judgment_observations,
    unjudged_observations,
)
from methods.evaluation.rating import RATING_SCHEMA, read_rating
from methods.evaluation.verdicts import (
    ORDERS,
    VERDICT_SCHEMA,
    place_of_model,
    read_comparison,
    winner_of,
)
from methods.prompts.messages import with_image_numbers

COMPARE_TURN_PROMPT = "convbench/compare_turn"
COMPARE_CONVERSATION_PROMPT = "convbench/compare_conversation"
GRADE_PROMPT = "convbench/grade"
WHOLE = "overall-"
"""Prefix of the parts that are whole conversations; their judgments are stored at the last turn."""
GRADE = "grade"
"""The name of the part for a direct grade."""

PromptValues = dict[str, Any]


@dataclass(frozen=True)
class JudgingScope:
    """The options for judging an item.

    Without `conversation`, each turn is judged alone, and the judge sees no other turn. With
    `later_turns`, the judge of a turn also sees the turns after it.
    """

    trials: Sequence[str]
    focus: bool
    turn_judgments: bool
    later_turns: bool
    conversation: bool
    grades: bool

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        """Judge the turns of all trials at once, then the conversations with the verdicts on their
        turns.

        Args:
            item: The item.
            transcript: The answers.
        """
        views = [
            _VariantView(item, transcript, trial, self)
            for trial in self.trials
            if len(item.turns) > N_GIVEN[trial]
        ]
        turns = [request for view in views for request in view.turns()]
        judgments = yield turns
        judged = list(zip(turns, judgments, strict=True))
        verdicts = {request.place: judgment for request, judgment in judged if judgment}
        whole = [request for view in views for request in view.conversations(verdicts)]
        judgments = yield whole
        judged += zip(whole, judgments, strict=True)
        observations = [observation for view in views for observation in view.unjudged()]
        for request, judgment in judged:
            observations += _observed(request.place, judgment)
        return observations


class _VariantView:
    """One trial of an item, as the judge sees it."""

    def __init__(self, item: Item, transcript: Transcript, trial: str, how: JudgingScope):
        self._item, self._transcript, self._trial, self._how = item, transcript, trial, how
        self._model_turns = [turn for turn in item.turns if turn.turn > N_GIVEN[trial]]
        caption = item.turns[0].references.get("caption")
        self._caption = caption and with_image_numbers(caption)

    def turns(self) -> Iterator[JudgeRequest]:
        """Yield the requests on turns that can be compared."""
        for turn in self._model_turns:
            if self._unjudged([turn], OF_TURN[turn.turn]):
                continue
            about = {
                "dimension": OF_TURN[turn.turn],
                "instruction": numbered_question(turn),
                "focus": self._focus(turn),
            }
            for order in ORDERS:
                sides = self._sides(turn, order)
                others = {
                    "earlier": self._exchanges(self._before(turn), order),
                    "later": self._exchanges(self._after(turn), order),
                }
                yield self._compared(turn, order, COMPARE_TURN_PROMPT, about | sides | others)
            if self._how.grades:
                yield self._graded(turn, GRADE, OF_TURN[turn.turn], [turn])

    def conversations(self, verdicts: Mapping[JudgmentKey, Judgment]) -> Iterator[JudgeRequest]:
        """Yield the requests on the whole conversation, if all its turns can be compared."""
        last = self._item.turns[-1]
        if not self._how.conversation or self._unjudged(self._model_turns, OVERALL):
            return
        for order in ORDERS:
            turns = [
                {**exchange, **self._verdict(verdicts, turn, order), "focus": self._focus(turn)}
                for turn, exchange in zip(
                    self._item.turns, self._exchanges(self._item.turns, order), strict=True
                )
            ]
            yield self._compared(last, WHOLE + order, COMPARE_CONVERSATION_PROMPT, {"turns": turns})
        if self._how.grades:
            yield self._graded(last, WHOLE + GRADE, OVERALL, self._model_turns)

    def unjudged(self) -> Iterator[Observation]:
        """Yield the observations of turns and conversations that cannot be compared."""
        for turn in self._model_turns:
            yield from self._unjudged([turn], OF_TURN[turn.turn])
        if self._how.conversation:
            yield from self._unjudged(self._model_turns, OVERALL)

    def _unjudged(self, turns: Sequence[Turn], dimension: str) -> list[Observation]:
        """Return observations, at the last turn, that say why these turns cannot be compared; empty if
        they can be.

        In a trial with reference turns, the references of these turns are needed, too.
        """
        last = turns[-1].turn
        metrics = [dimension, *([grade_of(dimension)] if self._how.grades else [])]
        needed = [turn for turn in self._item.turns if turn not in self._model_turns]
        if any(turn.reference is None for turn in [*needed, *turns]):
            return [Observation(metric, self._trial, last, "no_reference") for metric in metrics]
        for turn in turns:
            answer = self._transcript.answer(self._trial, turn.turn)
            if answer.text is None:
                return unjudged_observations(metrics, self._trial, last, answer)
        return []

    def _before(self, turn: Turn) -> list[Turn]:
        """The turns before `turn`; empty if each turn is judged alone."""
        return [
            other for other in self._item.turns if other.turn < turn.turn and self._how.conversation
        ]

    def _after(self, turn: Turn) -> list[Turn]:
        """The turns after `turn` that can be compared; empty unless the judge sees later turns."""
        if not (self._how.conversation and self._how.later_turns):
            return []
        return [
            other
            for other in self._item.turns
            if other.turn > turn.turn and not self._unjudged([other], OF_TURN[other.turn])
        ]

    def _exchanges(self, turns: Sequence[Turn], order: str) -> list[PromptValues]:
        """The texts of both assistants in each turn; both have the same text in a reference turn."""
        return [
            {
                "instruction": numbered_question(turn),
                "given": None
                if turn in self._model_turns
                else with_image_numbers(turn.reference or ""),
                **self._sides(turn, order),
            }
            for turn in turns
        ]

    def _sides(self, turn: Turn, order: str) -> PromptValues:
        """The texts of Assistants A and B; an earlier turn may have no reference."""
        model = self._text(turn)
        reference = with_image_numbers(turn.reference or "")
        first = place_of_model(order) == "A"
        return {"a": model if first else reference, "b": reference if first else model}

    def _verdict(
        self, verdicts: Mapping[JudgmentKey, Judgment], turn: Turn, order: str
    ) -> PromptValues:
        """The verdict on a turn in the same order; empty if there is none or it is not to be told."""
        judgment = verdicts.get(JudgmentKey(self._trial, turn.turn, order))
        if judgment is None or not self._how.turn_judgments:
            return {"winner": None, "reason": ""}
        return {"winner": winner_of(judgment.score, order), "reason": judgment.explanation}

    def _focus(self, turn: Turn) -> str | None:
        return turn.references.get("focus") if self._how.focus else None

    def _compared(self, turn: Turn, part: str, prompt: str, data: PromptValues) -> JudgeRequest:
        dimension = OVERALL if part.startswith(WHOLE) else OF_TURN[turn.turn]
        parse = partial(read_comparison, dimension=dimension, order=part)
        return self._request(turn, part, prompt, data, parse, VERDICT_SCHEMA)

    def _graded(self, turn: Turn, part: str, dimension: str, turns: Sequence[Turn]) -> JudgeRequest:
        graded = [
            {
                "instruction": numbered_question(graded_turn),
                "reference": with_image_numbers(graded_turn.reference or ""),
                "answer": self._text(graded_turn),
                "focus": self._focus(graded_turn),
            }
            for graded_turn in turns
        ]
        earlier, later = (
            [
                {"instruction": numbered_question(other), "answer": self._text(other)}
                for other in others
            ]
            for others in (self._before(turns[0]), self._after(turns[-1]))
        )
        parse = partial(read_grade, dimension=dimension)
        data = {"dimension": dimension, "earlier": earlier, "later": later, "turns": graded}
        return self._request(turn, part, GRADE_PROMPT, data, parse, RATING_SCHEMA)

    def _text(self, turn: Turn) -> str:
        return with_image_numbers(self._transcript.answer(self._trial, turn.turn).text or "")

    def _request(
        self, turn: Turn, part: str, prompt: str, data: PromptValues, parse: Any, schema: Any
    ) -> JudgeRequest:
        """Build a judge request on a turn; a caption replaces the images."""
        last = max(other.turn for other in (turn, *self._after(turn)))
        shown = sum(len(other.image_positions) for other in self._item.turns[:last])
        images = () if self._caption else self._item.image_ids[:shown]
        place = JudgmentKey(self._trial, turn.turn, part)
        return JudgeRequest(
            place, prompt, {**data, "caption": self._caption}, images, parse, schema
        )


def read_grade(reply: str, dimension: str) -> Judgment:
    """Read a grade from 1 to 10 in a reply.

    Args:
        reply: The judge's reply.
        dimension: The dimension.

    Raises:
        ParseError: The reply has no grade.
    """
    rating = read_rating(reply)
    return Judgment({grade_of(dimension): rating.score}, rating.score, rating.explanation)


def _observed(place: JudgmentKey, judgment: Judgment | None) -> list[Observation]:
    dimension = OVERALL if place.part.startswith(WHOLE) else OF_TURN[place.turn]
    graded = place.part.endswith(GRADE)
    return judgment_observations([grade_of(dimension) if graded else dimension], place, judgment)
