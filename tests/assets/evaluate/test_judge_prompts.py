"""The judge's prompt: a broken one costs nothing that was there, a changed one judges again."""

from pathlib import Path

import dagster as dg
import pytest

from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from resources.files.home import REPO_ROOT
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.evaluate.test_benchmark import N_TURNS, items
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Row, World, made, sentence

pytestmark = pytest.mark.slow

NOW = judge_version(BENCHMARKS["mmdu"], "shown")
NO_PICTURE = "No picture of the dialogue is shown to you"
TABLES = ("judgments", "scores", "failed", "missing", "leaderboard")


@pytest.fixture
def world(evaluated: World, copied: CopyWorld, tmp_path: Path) -> World:
    return copied(evaluated, tmp_path)


def with_judge_prompt(world: World, folder: Path, old: str, new: str) -> None:
    """Put a judge's prompt with other words before the project's own."""
    source = (REPO_ROOT / "methods" / "mmdu" / "prompts" / "judge.md").read_text()
    assert old in source
    (folder / "mmdu").mkdir(parents=True)
    (folder / "mmdu" / "judge.md").write_text(source.replace(old, new))
    world.settings["LOOM_PROMPTS"] = str(folder)


def tables(world: World) -> dict[str, list[Row]]:
    return {name: world.rows(f"FROM evaluate.{name} ORDER BY ALL") for name in TABLES}


def versions(world: World, table: str, column: str) -> set[str]:
    return {row[column] for row in world.rows(f"SELECT {column} FROM evaluate.{table}")}


def test_a_broken_prompt_leaves_judgments_and_scores_as_they_were(world, tmp_path):
    before = tables(world)
    # The mock judge does not see that it is to judge, so its replies have no grades.
    with_judge_prompt(world, tmp_path / "prompts", "You grade an assistant's", "Sing of an")

    run = world.run(ANY_ASSETS, assets=ASKING | SCORING)

    assert not run.success
    assert (
        "evaluate.judgments stopped asking judge with the prompt mmdu/judge, as its first 20 results "
        "all failed with no_dictionary (The judge's reply has no dictionary of scores): "
    ) in sentence(run)
    assert {"evaluate/answers", "evaluate/scores"} <= made(run)
    assert tables(world) == before


def test_a_changed_prompt_judges_who_is_evaluated_anew_and_its_scores_name_it(world, tmp_path):
    assert versions(world, "leaderboard", "judge_version") == {NOW}
    before = world.rows("FROM evaluate.judgments WHERE model = 'careless' ORDER BY ALL")
    n_of_both = world.warehouse.count("evaluate.judgments")
    world.set_models(evaluate=["careful"])
    with_judge_prompt(world, tmp_path / "prompts", "Everything between tags", "All between tags")

    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success

    assert len(world.proxy.asked("judge")) == n_of_both - len(before) > 0
    assert world.rows("FROM evaluate.judgments WHERE model = 'careless' ORDER BY ALL") == before
    (changed,) = versions(world, "judgments", "judge_version") - {NOW}
    assert changed.endswith(" turns@4")
    assert versions(world, "leaderboard", "judge_version") == {changed}
    # Who left the profile is not shown.
    assert versions(world, "leaderboard", "model") == {"careful"}
    # The judge reads the whole dialogue: each turn has one earlier turn more.
    asked = world.proxy.asked("judge")
    assert not any("<ImageHere>" in each.text or NO_PICTURE in each.text for each in asked)
    assert {each.text.count("</answered>") for each in asked} == set(range(N_TURNS))
    (first, *_) = world.rows(
        "SELECT answer FROM evaluate.answers WHERE model = 'careful' AND turn = 1 AND item_id = $i",
        i=items(world)[0],
    )
    later = [each for each in asked if f"<answered>{first['answer']}</answered>" in each.text]
    assert len(later) >= N_TURNS - 1


def test_what_the_judge_reads_of_pictures_is_true_whichever_it_is_sent(world: World) -> None:
    judgments = dg.AssetSelection.assets(["evaluate", "judgments"])
    world.set_models(evaluate=["careful"])
    for images in ("none", "all"):
        world.write_settings({"evaluate": {"judgments": {"images": images}}})
        n_before = len(world.proxy.requests)
        assert world.run(ANY_ASSETS, assets=judgments).success
        asked = world.proxy.asked("judge")[n_before:]
        assert asked
        for each in asked:
            assert (NO_PICTURE in each.text) == (images == "none") == (not each.images)
        rows = world.rows("FROM evaluate.judgments WHERE model = 'careful'")
        (version,) = {row["judge_version"] for row in rows}
        assert version.endswith(f"turns@4 images={images}")


def test_a_folder_of_prompts_that_is_not_there_stops_the_run_before_anything_is_asked(
    empty_world: MakeWorld, tmp_path: Path
) -> None:
    missing = str(tmp_path / "promts")
    world = empty_world(tmp_path, LOOM_PROMPTS=missing)
    run = world.evaluate()
    assert not run.success
    assert f"LOOM_PROMPTS is '{missing}', but there is no such folder" in str(run.all_events)
    assert world.proxy.requests == []
