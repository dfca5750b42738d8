"""Each question is answered in a reply of its own, and a reply that is cut off costs one turn."""

from pathlib import Path

import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.world import World, any_loss, metadata

pytestmark = pytest.mark.slow


@pytest.fixture
def world(clustered: World, copied: CopyWorld, tmp_path: Path) -> World:
    """One set of three images."""
    made = copied(clustered, tmp_path)
    first = made.warehouse.sql(
        "FROM cluster.image_sets WHERE set_id = "
        "(SELECT min(set_id) FROM cluster.image_sets WHERE kind = 'benchmark')"
    )
    made.warehouse.replace("cluster.image_sets", first)
    return made


def with_limit(world: World, tokens: int) -> None:
    """Answers are asked of a model whose replies end after so many tokens, whatever is asked for."""
    world.set_models(
        {"limited": {"model": "offline-writer", "token_limit": {"tokens": tokens}}},
        answer="limited",
    )


def test_each_question_is_asked_by_itself_with_the_one_that_it_goes_on_from(world: World) -> None:
    assert world.generate({"dialogue__questions": {"config": {"per_set": 4}}}).success

    asked = world.proxy.asked("answers")
    assert sorted(len(request.images) for request in asked) == [1, 1, 1, 3, 3, 3, 3]
    assert all(request.texts[1].count("<question>") == 1 for request in asked)
    questions = world.rows("FROM dialogue.questions WHERE len(positions) = 3 ORDER BY ordinal")
    first, _, third, _ = questions
    assert [row["follows"] for row in questions] == [None, None, first["question_id"], None]
    (following,) = [request for request in asked if "<earlier>" in request.texts[1]]
    assert f"<earlier>{first['question']}</earlier>" in following.texts[1]
    assert f"<question>{third['question']}</question>" in following.texts[1]
    (dialogue,) = world.rows("SELECT n_turns FROM dialogue.dialogues")
    assert dialogue["n_turns"] == 3 + 4


def test_an_answer_that_does_not_fit_is_lost_by_its_name_and_costs_its_turn(world: World) -> None:
    with_limit(world, 60)

    run = world.generate(any_loss("dialogue__answers", "dialogue__dialogues", "rewrite__rewrites"))

    lost = world.rows("SELECT * FROM dialogue.failed WHERE stage = 'answers' ORDER BY subject")
    assert {row["reason"] for row in lost} == {"truncated"}
    assert [row["subject"].split(", ")[1:] for row in lost if "image" not in row["subject"]] == [
        ["question 1"],
        ["question 2"],
        ["question 3"],
    ]
    assert metadata(run, "dialogue/answers")["failed"] == len(lost) == 6
    assert not any("Again: your last reply" in each.text for each in world.proxy.requests)


def test_questions_are_drafts_and_answers_are_not(world: World) -> None:
    assert world.generate({"dialogue__questions": {"config": {"seed": 5}}}).success

    drafts, answers = (
        [call.request for call in world.ledger if call.stage == f"dialogue.{name}"]
        for name in ("questions", "answers")
    )
    assert {(each["params"]["temperature"], each["replicate"]) for each in drafts} == {(0.7, 5)}
    assert {each["params"]["temperature"] for each in answers} == {0.0}
    assert not any("replicate" in each for each in answers)
