"""What MMDU's judge is sent, in a run, of the dialogue and of its pictures."""

from pathlib import Path

import pytest

from tests.assets.conftest import CopyWorld
from tests.assets.evaluate.test_benchmark import N_TURNS, items
from tests.assets.world import World
from tests.doubles.garbling_proxy import Asked

pytestmark = pytest.mark.slow

NO_PICTURE = "No picture of the dialogue is shown to you"


@pytest.fixture(scope="module")
def world(released: World, copied: CopyWorld) -> World:
    made = copied(released)
    assert made.evaluate("careful").success
    return made


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
    judged = again.rows(
        "SELECT DISTINCT judge_version AS v FROM evaluate.judgments WHERE model = 'careful'"
    )
    (version,) = [row["v"] for row in judged]
    assert version.endswith(f"turns@4 images={images}")
