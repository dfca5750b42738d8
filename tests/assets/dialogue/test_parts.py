"""Answers are asked for in parts that fit the token limit, and in smaller ones where they do not."""

from pathlib import Path

import pytest

from tests.assets.conftest import MakeWorld
from tests.assets.world import World, any_loss, copy_of, metadata, models_yaml

pytestmark = pytest.mark.slow

QUESTIONS = {"dialogue__questions": {"config": {"per_set": 12}}}


@pytest.fixture
def world(clustered: World, make_world: MakeWorld, tmp_path: Path) -> World:
    """One set of three images."""
    copy_of(clustered.root, tmp_path)
    made = make_world(tmp_path, clustered.corpus)
    first = made.warehouse.sql(
        "FROM cluster.image_sets WHERE set_id = "
        "(SELECT min(set_id) FROM cluster.image_sets WHERE kind = 'benchmark')"
    )
    made.warehouse.replace("cluster.image_sets", first)
    return made


def with_limit(world: World, tokens: int) -> None:
    """Answers are asked of a model whose replies end after so many tokens, whatever is asked for."""
    models = models_yaml(world.proxy.base_url)
    limited = {**models["models"]["writer"], "token_limit": {"tokens": tokens}}
    models["models"]["limited"] = limited
    models["profiles"]["test"]["answer"] = "limited"
    world.write_models(models)


def asked_together(world: World, images: int) -> list[int]:
    """How many questions each request for answers on so many images has."""
    return [
        sum(line.startswith("Q") for line in request.texts[1].splitlines())
        for request in world.proxy.asked("answers")
        if len(request.images) == images
    ]


def test_twelve_answers_of_500_words_are_asked_for_in_three_parts(world: World) -> None:
    assert world.generate(QUESTIONS).success

    # Five of 750 tokens fit into 4,096.
    assert asked_together(world, images=3) == [4, 4, 4]
    (dialogue,) = world.rows("SELECT n_turns FROM dialogue.dialogues")
    assert dialogue["n_turns"] == 3 + 12


def test_a_reply_that_is_cut_off_is_asked_for_in_halves_until_it_fits(world: World) -> None:
    # The offline writer's answers have about 200 tokens: by the length asked for, 4 of 60 words fit.
    with_limit(world, 460)
    settings = {**QUESTIONS, "dialogue__answers": {"config": {"n_words": 60}}}

    run = world.generate(settings)

    assert run.success
    # Halves of one part may be asked for before another part: the order is that of the replies.
    asked = sorted(asked_together(world, images=3), reverse=True)
    assert asked[:3] == [4, 4, 4] and set(asked[3:]) <= {1, 2} and len(asked) > 6
    # Nothing is asked for again at the limit that cut it off, and nothing is lost.
    assert not any("Again: your last reply" in each.text for each in world.proxy.requests)
    assert metadata(run, "dialogue/answers")["failed"] == 0
    (dialogue,) = world.rows("SELECT n_turns FROM dialogue.dialogues")
    assert dialogue["n_turns"] == 15
    cut_off = [call for call in world.ledger if call.outcome == "truncated"]
    assert cut_off and {call.completion_tokens for call in cut_off} == {460}

    world.proxy.heal()
    assert world.generate(settings).success
    assert world.proxy.requests == [], "what was cut off is kept, and so are its parts"


def test_one_answer_that_does_not_fit_is_lost_by_its_name_and_costs_its_turn(world: World) -> None:
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
