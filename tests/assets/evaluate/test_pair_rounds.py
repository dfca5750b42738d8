"""What came of a question as rows: verdicts, lost verdicts, and answers that there are not."""

from types import SimpleNamespace
from typing import Any

import pytest

from assets.evaluate.pair_rounds import PairwiseEvaluation
from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Judgment
from methods.pairwise.design import ComparisonUnit, Matchup, MatchupOutcomes
from resources.llm.parsed_reply import ParsedReply

ITEM = Item("i", (Turn(1, "What is it?"),))
QUESTION = Matchup("x", "y", ComparisonUnit("i", 1, "i"))


def contest(**answers: str | None) -> PairwiseEvaluation:
    """Models and what each of them answered; None for an answer that failed."""
    transcripts = {
        (model, "i"): Transcript(
            {("plain", 1): Answer("answered" if text else "failed", text, f"call of {model}")}
        )
        for model, text in answers.items()
    }
    released: Any = SimpleNamespace(benchmark=SimpleNamespace(name="toy"), release_id="toy-1")
    design: Any = None
    return PairwiseEvaluation(
        released, "judge", "v", {"i": ITEM}, transcripts, design, ["x", "y"], 1, "none", True
    )


def reply(share: float | None) -> ParsedReply[Judgment]:
    if share is None:
        return ParsedReply("key", "p@1", None, ("no_winner", "It has none."))
    return ParsedReply("key", "p@1", Judgment({"preference": share}, share, "So."), None)


def test_a_row_an_order_in_the_form_of_an_arena():
    of = contest(x="A mill.", y="A **lake**.")
    # The first model wins where it stands first; where it stands second it is a tie.
    assert of.take(QUESTION, [reply(1.0), reply(0.5)], "mock") == MatchupOutcomes((1, 0.5), 2)
    first, second = of.rows
    assert (first["model_a"], first["model_b"], first["winner"]) == ("x", "y", "model_a")
    assert (second["model_a"], second["model_b"], second["winner"]) == ("y", "x", "tie")
    assert (first["answer_a_call_key"], second["answer_a_call_key"]) == ("call of x", "call of y")
    assert dict(first["style"])["bold"] == -dict(second["style"])["bold"] == -0.5
    assert {row["call_key"] for row in of.rows} == {"key"}


@pytest.mark.parametrize(
    ("answers", "statuses", "outcomes"),
    [
        ({"x": None, "y": "A lake."}, ["no_answer_a", "no_answer_b"], (0, 0)),
        ({"x": "A mill.", "y": None}, ["no_answer_b", "no_answer_a"], (1, 1)),
        ({"x": None, "y": None}, ["no_answer", "no_answer"], (0.5, 0.5)),
        ({"x": "A mill."}, ["no_answer_b", "no_answer_a"], (1, 1)),
    ],
)
def test_no_answer_costs_no_call_and_decides_at_the_floor(answers, statuses, outcomes):
    of = contest(**answers)
    assert of.take(QUESTION, [], "mock") == MatchupOutcomes(outcomes, 0)
    assert [row["status"] for row in of.rows] == statuses
    assert all(row["call_key"] is None and row["style"] is None for row in of.rows)
