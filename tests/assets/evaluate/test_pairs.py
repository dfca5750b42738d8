"""Answers are compared only where it is asked for, by a design within a budget, and rated."""

import json
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import dagster as dg
import pytest

from assets.evaluate.pair_rounds import PairwiseEvaluation, ask_in_rounds
from assets.evaluate.pairs import OFF
from assets.evaluate.released import EvaluatedRelease
from methods.evaluation.asking import Answer, Transcript
from methods.evaluation.items import Item, Turn
from methods.evaluation.judging import Judgment
from methods.pairwise.design import ComparisonUnit, Matchup, MatchupOutcomes
from resources.llm.parsed_reply import ParsedReply
from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.test_judge_bias_tests import write_questions
from tests.assets.world import ANY_ASSETS, PAIRING, Row, World, metadata, sentence

pytestmark = pytest.mark.slow


ANSWERS = dg.AssetSelection.assets(["evaluate", "answers"])
N_ITEMS = 12


@pytest.fixture(scope="module")
def answered(empty_world: MakeWorld, mock_url: str) -> World:
    world = empty_world()
    models = {name: f"offline-{name}" for name in ("always-a", "rambler", "careless", "refuser")}
    candidates = ["rambler", "careless", "refuser", "baseline:empty"]
    profile = {"writer": "refuser", "judges": ["honest", "always-a"], "evaluate": candidates}
    world.set_mock_models(mock_url, {**models, "honest": "offline-judge"}, **profile)
    reference = "It lets people cross a river with dry feet."
    questions = {
        f"bridge{number}": (f"What is the use of bridge {number}?", reference)
        for number in range(N_ITEMS)
    }
    assert world.import_file("alignmmbench", write_questions(world.root, questions)).success
    assert world.run(ANY_ASSETS, assets=ANSWERS).success
    return world


def release_of(world: World) -> str:
    (row,) = world.rows("SELECT release_id FROM release.current WHERE name LIKE 'alignmmbench%'")
    return str(row["release_id"])


def compare(world: World, **config: object) -> dg.ExecuteInProcessResult:
    given = {"releases": [release_of(world)], **config}
    steps = {
        "evaluate__pairs": {"config": given},
        "evaluate__pair_ratings": {"config": {"n_resamples": 100, "n_style_resamples": 100}},
    }
    return world.run(ANY_ASSETS, steps, assets=PAIRING)


def ratings(world: World, judge: str, form: str = "judged") -> dict[str, Row]:
    rows = world.rows(
        "FROM evaluate.pair_ratings WHERE judge = $judge AND form = $form", judge=judge, form=form
    )
    return {row["model"]: row for row in rows}


def test_no_release_is_asked_by_itself_and_it_says_how(answered: World) -> None:
    before = answered.table("evaluate.pairs")
    run = answered.run(ANY_ASSETS, assets=PAIRING)
    assert run.success
    assert metadata(run, "evaluate/pairs")["note"] == OFF
    assert answered.table("evaluate.pairs") == before


def test_every_pair_is_asked_in_both_orders_by_each_judge_and_who_declines_is_last(answered):
    assert compare(answered, adaptive=False).success
    rows = answered.table("evaluate.pairs")
    assert len(rows) == 2 * 3 * N_ITEMS * 2
    assert {row["status"] for row in rows} == {"judged"}
    places = {(row["judge"], row["item_id"], row["model_a"], row["model_b"]) for row in rows}
    assert all((judge, item, b, a) in places for judge, item, a, b in places)
    (design,) = answered.table("evaluate.pair_designs", judge="honest")
    assert (design["n_calls"], design["n_calls_of_all"], design["n_models"]) == (72, 72, 3)

    honest = ratings(answered, "honest")
    assert honest["refuser"]["rank"] == 3
    assert honest["refuser"]["win_share"] == 0
    # A judge that always says A gives everyone the same.
    always = ratings(answered, "always-a")
    assert {round(row["rating"], 6) for row in always.values()} == {1000}
    biases = answered.table("evaluate.pair_biases", bias="first_place")
    assert {row["judge"]: row["value"] for row in biases} == {"honest": 0.5, "always-a": 1.0}


def test_models_are_compared_with_the_references_that_the_judge_is_not_shown(answered):
    assert compare(answered, opponents="baseline:reference").success
    rows = answered.table("evaluate.pairs", judge="honest")
    assert len(rows) == 2 * 3 * N_ITEMS
    assert all("baseline:reference" in (row["model_a"], row["model_b"]) for row in rows)
    assert ratings(answered, "honest")["refuser"]["rank"] == 4
    (key,) = {row["call_key"] for row in rows[:1]}
    call = next(call for call in answered.ledger if call.key == key)
    told = json.dumps(call.request["messages"])
    assert "<reference>" not in told and "dry feet" in told


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"releases": ["nowhere-1"]}, "There is no benchmark release nowhere-1"),
        ({"opponents": "stranger"}, "stranger has no answers on "),
        ({"models": ["careful"]}, "careful has no answers on "),
        ({"models": ["rambler"]}, "has plain answers of 1 of the two models"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(answered: World, config: Row, said: str) -> None:
    assert said in sentence(compare(answered, **config))


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
    benchmark: Any = SimpleNamespace(name="toy")
    released = EvaluatedRelease(benchmark, "toy-1")
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


@pytest.mark.parametrize(("judges", "is_apart"), [("jj", False), ("jk", True)])
def test_a_judge_that_fails_ends_the_stage_unless_there_are_others(judges, is_apart):
    contests: list[Any] = [
        SimpleNamespace(judge=judge, design=iter([[QUESTION]])) for judge in judges
    ]
    llm = Mock()
    llm.map.side_effect = RuntimeError
    with pytest.raises(RuntimeError):
        ask_in_rounds(llm, "s", contests, Mock(), Mock())
    assert (llm.map.call_args.kwargs["apart"] is not None) == is_apart
    assert llm.map.call_args.kwargs["candidates"](0) == {"x", "y"}
