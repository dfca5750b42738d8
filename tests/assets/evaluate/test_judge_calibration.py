"""What MMDU's judge is sent by the path, and what it makes of answers whose worth is known."""

from pathlib import Path

import pytest

from resources.llm.registry import BASELINES
from tests.assets.conftest import CopyWorld
from tests.assets.evaluate.test_benchmark import N_TURNS, items
from tests.assets.world import World
from tests.doubles.garbling_proxy import Asked

pytestmark = pytest.mark.slow

NO_PICTURE = "No picture of the dialogue is shown to you"


@pytest.fixture(scope="module")
def world(released: World, copied: CopyWorld) -> World:
    """Two models, one that refuses, and all baselines, judged."""
    made = copied(released)
    assert made.evaluate("careful", "careless", "refuser", *BASELINES).success
    assert made.score().success
    return made


def test_the_reference_is_on_top_and_what_answers_nothing_is_at_the_bottom(world: World) -> None:
    rows = world.rows(
        "SELECT model, value FROM evaluate.leaderboard WHERE metric = 'Overall Score/micro'"
    )
    value = {row["model"]: row["value"] for row in rows}
    assert len(value) == 6
    assert value["baseline:reference"] >= value["careful"] > value["careless"] > 10
    # Sets of this small world share pictures, so that another item's reference is right in part.
    assert value["careful"] > value["baseline:swapped-reference"] > 10
    assert value["baseline:empty"] == value["refuser"] == 10


def test_the_judge_reads_the_whole_dialogue_and_no_placeholder(world: World) -> None:
    asked = world.proxy.asked("judge")
    assert not any("<ImageHere>" in each.text or NO_PICTURE in each.text for each in asked)
    # Each turn of a dialogue has one earlier turn more.
    earlier = [each.text.count("</answered>") for each in asked]
    assert set(earlier) == set(range(N_TURNS))
    said = world.rows(
        "SELECT answer FROM evaluate.answers WHERE model = 'careful' AND turn = 1 AND item_id = $i",
        i=items(world)[0],
    )[0]["answer"]
    later = [each for each in asked if f"<answered>{said}</answered>" in each.text]
    assert len(later) >= N_TURNS - 1


@pytest.mark.parametrize("images", ["none", "all"])
def test_what_the_judge_reads_of_pictures_is_true_whichever_it_is_sent(
    world: World, copied: CopyWorld, tmp_path: Path, images: str
) -> None:
    again = copied(world, tmp_path)
    again.write_settings({"evaluate": {"judgments": {"images": images}}})
    assert again.evaluate("careful").success
    asked: list[Asked] = again.proxy.asked("judge")
    assert asked
    for each in asked:
        assert (NO_PICTURE in each.text) == (images == "none") == (not each.images)
    # The baselines are in no profile: they keep their judgments.
    judged = again.rows(
        "SELECT DISTINCT judge_version AS v FROM evaluate.judgments WHERE model = 'careful'"
    )
    (version,) = [row["v"] for row in judged]
    assert version.endswith(f"turns@4 images={images}")
