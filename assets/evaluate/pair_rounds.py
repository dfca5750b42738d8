"""Rounds of pairwise comparisons: each round asks the judges of all releases at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assets.evaluate.inference import PARAMS
from assets.evaluate.item_limit import ItemLimit
from assets.evaluate.judge import JudgeImages, JudgeRun, ask_judge
from assets.evaluate.released import EvaluatedRelease
from methods.evaluation.asking import PLAIN, Transcript
from methods.evaluation.candidates import models_behind
from methods.evaluation.items import Item
from methods.evaluation.judging import Judgment
from methods.evaluation.verdicts import ORDERS, place_of_model
from methods.pairwise.comparing import (
    FLOOR,
    REFERENCE,
    ArenaComparison,
    Status,
    arena_winner,
    requests,
    unanswered,
)
from methods.pairwise.design import Design, DesignOutcome, Matchup, MatchupOutcomes
from methods.pairwise.style import FEATURES, style_difference
from resources.llm.gateway import Gateway
from resources.llm.model_calls import ModelCalls
from resources.llm.parsed_reply import ParsedReply
from resources.llm.progress import OnProgress
from resources.llm.usage import Usage

Row = dict[str, Any]
Replies = list[ParsedReply[Judgment]]
Answers = Mapping[tuple[str, str], Transcript]
NOTHING = Transcript({})


@dataclass
class PairwiseEvaluation:
    """Pairwise comparisons of a release's models by one judge: the design, and the rows so far."""

    release: EvaluatedRelease
    judge: str
    version: str
    items: Mapping[str, Item]
    answers: Answers
    design: Design
    models: Sequence[str]
    n_units: int
    images: JudgeImages
    reference: bool
    rows: list[Row] = field(default_factory=list)
    outcome: DesignOutcome = DesignOutcome(0, 0, 0, "")

    @property
    def named(self) -> Row:
        """The columns that all rows have in common."""
        return {**self.release.columns, "judge": self.judge, "judge_version": self.version}

    @property
    def n_lost(self) -> int:
        """The number of comparisons without a verdict."""
        return sum(row["status"] == "not_judged" for row in self.rows)

    def transcripts(self, question: Matchup) -> tuple[Transcript, Transcript]:
        """Return the answers of both models to the item of a comparison."""
        first, second = (
            self.answers.get((name, question.unit.item_id), NOTHING)
            for name in (question.first, question.second)
        )
        return first, second

    async def ask(self, calls: ModelCalls, question: Matchup, limit: ItemLimit) -> Replies | None:
        """Ask the judge in both orders.

        There are no replies if one of the models gave no answer, and None if the item is beyond the
        limit.
        """
        first, second = self.transcripts(question)
        turn = question.unit.turn
        if unanswered(first.answer(PLAIN, turn), second.answer(PLAIN, turn), ORDERS[0]):
            return []
        item = self.items[question.unit.item_id]
        reference = self.reference and REFERENCE not in (question.first, question.second)
        run = JudgeRun(self.judge, 0, item, first, self.images, PARAMS)
        asking = ask_judge(calls, run, requests(item, turn, first, second, reference=reference))
        return await limit.ask(calls, self.release, item.item_id, asking)

    def take(self, question: Matchup, replies: Replies | None, provider: str) -> MatchupOutcomes:
        """Store the rows of a comparison.

        Args:
            question: The comparison.
            replies: The replies of the judge; None if it was not asked because of the limit.
            provider: The judge's provider.

        Returns:
            The outcomes with a winner or a tie, 0 to 1 from the first model's view, and the number of
            calls.
        """
        if replies is None:
            return MatchupOutcomes((), 0)
        first, second = (
            transcript.answer(PLAIN, question.unit.turn)
            for transcript in self.transcripts(question)
        )
        outcomes = []
        for place, order in enumerate(ORDERS):
            swapped = place_of_model(order) == "B"
            model_a, model_b = (
                (question.second, question.first) if swapped else (question.first, question.second)
            )
            a, b = (second, first) if swapped else (first, second)
            reply = replies[place] if replies else None
            judgment = reply and reply.value
            lacking = unanswered(first, second, order)
            status: Status = lacking or ("judged" if judgment else "not_judged")
            winner = arena_winner(judgment.score, order) if judgment else None
            row = ArenaComparison(*question.unit, model_a, model_b, status, winner)
            style = None if lacking else style_difference(a.text or "", b.text or "")
            self.rows.append(
                {
                    **self.named,
                    **row._asdict(),
                    "provider": provider,
                    "explanation": judgment and judgment.explanation,
                    "reason": reply and reply.loss and reply.loss[0],
                    "style": style and list(zip(FEATURES, style, strict=True)),
                    "prompt_version": reply and reply.prompt_version,
                    "answer_a_call_key": a.call_key,
                    "answer_b_call_key": b.call_key,
                    "call_key": reply and reply.key,
                }
            )
            outcome = row.outcome(FLOOR)
            if outcome is not None:
                outcomes.append(1 - outcome if swapped else outcome)
        return MatchupOutcomes(tuple(outcomes), len(replies))


def ask_in_rounds(
    llm: Gateway,
    stage: str,
    contests: Sequence[PairwiseEvaluation],
    on_progress: OnProgress,
    limit: ItemLimit,
) -> Usage:
    """Ask judges to compare answers, in rounds until every design has ended.

    A round has the comparisons of all contests. With several judges, a failing judge does not stop the
    others.
    """
    usage = Usage(stage=stage)
    waiting = [(contest, next(contest.design)) for contest in contests]
    several = len({contest.judge for contest in contests}) > 1
    while waiting:
        todo = [(contest, question) for contest, asked in waiting for question in asked]

        async def ask(
            calls: ModelCalls, place: int, todo: list[tuple[PairwiseEvaluation, Matchup]] = todo
        ) -> Replies | None:
            contest, question = todo[place]
            return await contest.ask(calls, question, limit)

        judges = [contest.judge for contest, _ in todo]
        compared = [models_behind(question.first, question.second) for _, question in todo]
        replies, used = llm.map(
            stage,
            range(len(todo)),
            ask,
            on_progress,
            apart=judges.__getitem__ if several else None,
            candidates=compared.__getitem__,
        )
        usage.add(used)
        came = iter(replies)
        waiting = [
            (contest, following)
            for contest, questions in waiting
            if (following := _advance(contest, questions, llm, came)) is not None
        ]
    return usage


def _advance(contest: PairwiseEvaluation, matchups: list[Matchup], llm: Gateway, came: Any) -> Any:
    """Give the design its outcomes, and return its next comparisons; None if it has ended."""
    provider = llm.registry.model(contest.judge).provider
    outcomes = [contest.take(question, next(came), provider) for question in matchups]
    try:
        return contest.design.send(outcomes)
    except StopIteration as end:
        contest.outcome = end.value
        return None
