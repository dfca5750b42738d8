"""Questions with more images than a model takes: what a policy sends, counts and names."""

from pathlib import Path

import pytest

from methods.prompts.prompt_template import PromptTemplate
from resources.settings.prompts import PROMPTS_ROOT, prompt
from tests.assets.conftest import MakeWorld
from tests.assets.evaluate.test_multiple_choice import several_pictures, take
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, World, metadata

pytestmark = pytest.mark.slow


@pytest.fixture
def world(empty_world: MakeWorld, tmp_path: Path) -> World:
    """Four questions on two pictures each, before a model that takes one."""
    made = empty_world(tmp_path)
    made.set_models({"careful": {"max_images": 1}}, evaluate=["careful"])
    take(made, "mmiu", several_pictures(tmp_path))
    return made


@pytest.mark.parametrize(("policy", "left_out"), [("sample", 1), ("tile", None)])
def test_every_question_is_asked_and_scores_name_the_policy(world, policy, left_out):
    world.write_settings({"evaluate": {"answers": {"context_policy": policy}}})
    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)
    assert run.success
    rows = world.rows(
        "SELECT status, images_left_out, prompt_version, count(*) AS n FROM evaluate.answers "
        "GROUP BY ALL"
    )
    (row,) = rows
    assert (row["status"], row["images_left_out"], row["n"]) == ("answered", left_out, 4)
    asked_by = prompt("mmiu/question").version
    assert row["prompt_version"] == f"once@2 {asked_by} context={policy}"
    told = metadata(run, "evaluate/answers")
    assert (told["shortened"], told["context policy"]) == (4 if left_out else 0, f"mmiu: {policy}")
    versions = world.rows("SELECT DISTINCT judge_version FROM evaluate.scores")
    assert versions == [{"judge_version": f"letter@2 context={policy}"}]
    sent = [asked for asked in world.proxy.requests if asked.model == "offline-careful"]
    assert len(sent) == 4, "what is too much is not sent"
    if left_out:
        assert all("is left out>" in asked.text for asked in sent)
    else:
        assert all("<image 2 of the grid>" in asked.text for asked in sent)


def test_a_question_prompt_of_ones_own_is_what_models_are_asked_by(world, tmp_path):
    source = (PROMPTS_ROOT / "mmiu" / "prompts" / "question.md").read_text()
    folder = tmp_path / "prompts" / "mmiu"
    folder.mkdir(parents=True)
    own = folder / "question.md"
    own.write_text(source.replace("Please answer the option directly", "One letter"))
    world.settings["LOOM_PROMPTS"] = str(tmp_path / "prompts")
    world.write_settings({"evaluate": {"answers": {"context_policy": "tile"}}})
    assert world.run(ANY_ASSETS, assets=ASKING).success
    version = PromptTemplate("mmiu/question", own.read_text()).version
    (row,) = world.rows("SELECT DISTINCT prompt_version FROM evaluate.answers")
    assert row["prompt_version"] == f"once@2 {version} context=tile"
    sent = [asked for asked in world.proxy.requests if asked.model == "offline-careful"]
    assert sent and all("Hint: One letter like A" in asked.text for asked in sent)
