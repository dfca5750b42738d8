"""Answers are compared only where it is asked for, by a design within a budget, and rated."""

import json

import dagster as dg
import pytest

from assets.evaluate.pairs import OFF
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
    before = answered.rows("FROM evaluate.pairs ORDER BY ALL")
    run = answered.run(ANY_ASSETS, assets=PAIRING)
    assert run.success
    assert metadata(run, "evaluate/pairs")["note"] == OFF
    assert answered.rows("FROM evaluate.pairs ORDER BY ALL") == before


def test_every_pair_is_asked_in_both_orders_by_each_judge_and_who_declines_is_last(
    answered: World,
) -> None:
    assert compare(answered, adaptive=False).success
    rows = answered.rows("FROM evaluate.pairs")
    assert len(rows) == 2 * 3 * N_ITEMS * 2
    assert {row["status"] for row in rows} == {"judged"}
    places = {(row["judge"], row["item_id"], row["model_a"], row["model_b"]) for row in rows}
    assert all((judge, item, b, a) in places for judge, item, a, b in places)
    (design,) = answered.rows("FROM evaluate.pair_designs WHERE judge = 'honest'")
    assert (design["n_calls"], design["n_calls_of_all"], design["n_models"]) == (72, 72, 3)

    honest = ratings(answered, "honest")
    assert honest["refuser"]["rank"] == 3
    assert honest["refuser"]["win_share"] == 0
    # A judge that always says A gives everyone the same.
    always = ratings(answered, "always-a")
    assert {round(row["rating"], 6) for row in always.values()} == {1000}
    biases = answered.rows("FROM evaluate.pair_biases WHERE bias = 'first_place'")
    assert {row["judge"]: row["value"] for row in biases} == {"honest": 0.5, "always-a": 1.0}


def test_models_are_compared_with_the_references_that_the_judge_is_not_shown(answered):
    assert compare(answered, opponents="baseline:reference").success
    rows = answered.rows("FROM evaluate.pairs WHERE judge = 'honest'")
    assert len(rows) == 2 * 3 * N_ITEMS
    assert all("baseline:reference" in (row["model_a"], row["model_b"]) for row in rows)
    assert ratings(answered, "honest")["refuser"]["rank"] == 4
    (key,) = {row["call_key"] for row in rows[:1]}
    call = next(call for call in answered.ledger if call.key == key)
    told = json.dumps(call.request["messages"])
    assert "<reference>" not in told and "dry feet" in told


def test_calls_of_verdicts_and_answers_are_those_of_the_ledger(answered: World) -> None:
    assert compare(answered).success
    known = {call.key for call in answered.ledger}
    rows = answered.rows("FROM evaluate.pairs")
    for name in ("call_key", "answer_a_call_key", "answer_b_call_key"):
        assert {row[name] for row in rows} <= known


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
