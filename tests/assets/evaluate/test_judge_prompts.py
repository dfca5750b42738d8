"""The judge's prompt: a broken one costs nothing that was there, a changed one has cells of its own."""

from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from assets.evaluate import observations, scores
from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from methods.mmdu.judging import DIMENSIONS
from resources.files.home import REPO_ROOT
from resources.warehouse import TableWrite, Warehouse
from tests.assets.conftest import CopyWorld, MakeWorld
from tests.assets.corpus import Corpus
from tests.assets.world import (
    ANY_ASSETS,
    ASKING,
    SCORING,
    Row,
    World,
    made,
    models_yaml,
    sentence,
)

pytestmark = pytest.mark.slow

NOW = judge_version(BENCHMARKS["mmdu"], "shown")
EARLIER = "mmdu/judge@4bf65a46"
TABLES = ("judgments", "scores", "failed", "missing", "leaderboard")


# --- In a run ------------------------------------------------------------------------------------


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


def test_a_broken_prompt_leaves_judgments_and_scores_as_they_were(
    world: World, tmp_path: Path
) -> None:
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


def test_a_changed_prompt_judges_anew_and_its_scores_name_it(world: World, tmp_path: Path) -> None:
    assert versions(world, "leaderboard", "judge_version") == {NOW}
    with_judge_prompt(world, tmp_path / "prompts", "Everything between tags", "All between tags")

    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success

    assert len(world.proxy.asked("judge")) > 0
    (changed,) = versions(world, "judgments", "judge_version")
    (asked,) = versions(world, "judgments", "prompt_version")
    assert changed == f"{asked} turns@4" != NOW
    assert versions(world, "leaderboard", "judge_version") == {changed}


def test_a_model_that_the_profile_no_longer_evaluates_is_not_judged_anew(
    world: World, tmp_path: Path
) -> None:
    before = world.rows("FROM evaluate.judgments WHERE model = 'careless' ORDER BY ALL")
    n_of_both = world.rows("SELECT count(*) AS n FROM evaluate.judgments")[0]["n"]
    models = models_yaml(world.proxy.base_url)
    (profile,) = models["profiles"].values()
    profile["evaluate"] = ["careful"]
    world.write_models(models)
    with_judge_prompt(world, tmp_path / "prompts", "Everything between tags", "All between tags")

    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success

    assert len(world.proxy.asked("judge")) == n_of_both - len(before) > 0
    assert world.rows("FROM evaluate.judgments WHERE model = 'careless' ORDER BY ALL") == before
    assert versions(world, "leaderboard", "model") == {"careful"}, (
        "who left the profile is not shown"
    )


# --- By hand -------------------------------------------------------------------------------------

HERE = {"release_id": "r", "item_id": "i"}
BY = {"benchmark": "mmdu", "model": "m", "provider": "mock"}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """One item with two turns, both answered; nothing is judged."""
    item = {**HERE, "ordinal": 1, "revision": 0, "reviewers": ["ann"], "labels": {}}
    answers = [
        {**HERE, **BY, "trial": "plain", "turn": turn, "status": "answered", "answer": "A",
         "call_key": f"a{turn}", "prompt_version": "v"}
        for turn in (1, 2)
    ]  # fmt: skip
    turns = [{**HERE, "turn": turn, "question": "Q", "image_positions": []} for turn in (1, 2)]
    references = [{**HERE, "turn": turn, "kind": "answer", "reference": "R"} for turn in (1, 2)]
    rows = {
        "release.items": [item],
        "release.turns": turns,
        "release.references": references,
        "evaluate.answers": answers,
    }
    made_here = Warehouse(tmp_path / "warehouse.duckdb")
    made_here.replace_all(
        [TableWrite(table, rows_to_arrow(table, of), {}) for table, of in rows.items()]
    )
    return made_here


def judge(warehouse: Warehouse, *given: tuple[int, str, int]) -> None:
    """Judgments in the place of all others: turn, version of the judging, score."""
    rows: list[dict[str, Any]] = [
        {
            **HERE,
            **BY,
            "trial": "plain",
            "turn": turn,
            "part": "turn",
            "judge": "j",
            "replicate": 0,
            "scores": list(dict.fromkeys(DIMENSIONS, score).items()),
            "score": score,
            "explanation": "",
            "answer_call_key": f"a{turn}",
            "call_key": f"j{turn}",
            "prompt_version": version.partition(" ")[0],
            "judge_version": version,
        }
        for turn, version, score in given
    ]
    warehouse.replace("evaluate.judgments", rows_to_arrow("evaluate.judgments", rows))


def cells(warehouse: Warehouse) -> list[tuple[str, float, int, int]]:
    """Of each cell of the leaderboard's overall score: version, value, turns judged and not."""
    resources = {"warehouse": warehouse, "benchmarks": BENCHMARKS}
    assert dg.materialize([observations, scores], resources=resources).success
    rows = warehouse.sql(
        "SELECT judge_version, judged_only, n_judged, n_failed FROM evaluate.leaderboard "
        "WHERE metric = 'Overall Score/micro' ORDER BY ALL"
    )
    return [tuple(row.values()) for row in rows.to_pylist()]


def test_judgments_under_two_versions_stand_in_two_cells(
    warehouse: Warehouse, loom_home: Path
) -> None:
    judge(warehouse, (1, EARLIER, 4), (2, NOW, 8))
    assert cells(warehouse) == [(EARLIER, 40, 1, 1), (NOW, 80, 1, 1)]


def test_a_judgment_of_an_earlier_answer_makes_no_score(
    warehouse: Warehouse, loom_home: Path
) -> None:
    judge(warehouse, (1, NOW, 4), (2, NOW, 8))
    again = warehouse.sql("FROM evaluate.answers").to_pylist()
    for row in again:
        row["call_key"] = f"again {row['turn']}"
    warehouse.replace("evaluate.answers", rows_to_arrow("evaluate.answers", again))
    assert cells(warehouse) == []


def test_a_folder_of_prompts_that_is_not_there_stops_the_run_before_anything_is_asked(
    make_world: MakeWorld, tmp_path: Path
) -> None:
    (tmp_path / "corpus").mkdir()
    missing = str(tmp_path / "promts")
    world = make_world(tmp_path, Corpus(tmp_path / "corpus"), LOOM_PROMPTS=missing)
    run = world.evaluate()
    assert not run.success
    assert f"LOOM_PROMPTS is '{missing}', but there is no such folder" in str(run.all_events)
    assert world.proxy.requests == []
