"""Prompts of judges: a broken one costs nothing, a changed one judges again, versions never mix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.evaluate import observations
from assets.evaluate.judge import judge_version
from methods.benchmarks import BENCHMARKS
from methods.evaluation.asking import PLAIN, Transcript
from methods.evaluation.items import Item
from methods.evaluation.judging import (
    JudgeRequest,
    Judging,
    Judgment,
    JudgmentKey,
    Observation,
    judgment_observations,
)
from methods.evaluation.metrics import Metric
from methods.evaluation.metrics.mean import Mean
from methods.mmdu import Mmdu
from resources.files.home import REPO_ROOT
from resources.settings import prompts
from resources.warehouse import Warehouse
from tests.assets.evaluate.test_benchmark import N_TURNS
from tests.assets.filled import put
from tests.assets.world import ANY_ASSETS, ASKING, SCORING, Row, World, made, sentence

pytestmark = pytest.mark.slow

BASE = "evaluated"


NOW = judge_version(BENCHMARKS["mmdu"], "shown")
NO_PICTURE = "No picture of the dialogue is shown to you"
TABLES = ("judgments", "scores", "failed", "missing", "leaderboard")


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
    before = world.table("evaluate.judgments", model="careless")
    n_of_both = world.warehouse.count("evaluate.judgments")
    world.set_models(evaluate=["careful"])
    with_judge_prompt(world, tmp_path / "prompts", "Everything between tags", "All between tags")

    assert world.run(ANY_ASSETS, assets=ASKING | SCORING).success

    assert len(world.proxy.asked("judge")) == n_of_both - len(before) > 0
    assert world.table("evaluate.judgments", model="careless") == before
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
        i=world.items()[0],
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
        rows = world.table("evaluate.judgments", model="careful")
        (version,) = {row["judge_version"] for row in rows}
        assert version.endswith(f"turns@4 images={images}")


PROMPTS = ("two/turn", "two/whole")
HERE = {"release_id": "r", "item_id": "i"}
BY = {"benchmark": "two", "model": "m"}
BOTH = "two/turn@1 two/whole@1 both@1"


class Two(Mmdu):
    """Two turns are graded; then the dialogue, by a prompt of its own that is told their grades."""

    name = "two"
    judge_prompts: Sequence[str] = PROMPTS
    judge_version = "both@1"
    dimensions: Sequence[str] = ("turn", "whole")
    metrics: Sequence[Metric] = (Mean(name="whole", lowest=1, highest=10),)

    def judge(self, item: Item, transcript: Transcript) -> Judging:
        turns = [ask(JudgmentKey(PLAIN, turn.turn, "turn"), "two/turn") for turn in item.turns]
        grades = yield turns
        found: list[Observation] = []
        for asked, grade in zip(turns, grades, strict=True):
            found += judgment_observations(["turn"], asked.place, grade)
        if None in grades:
            return found
        whole = ask(
            JudgmentKey(PLAIN, len(turns), "whole"), "two/whole", [g.score for g in grades if g]
        )
        (judgment,) = yield [whole]
        return found + judgment_observations(["whole"], whole.place, judgment)


def ask(place: JudgmentKey, prompt: str, scores: Sequence[int] = ()) -> JudgeRequest:
    return JudgeRequest(place, prompt, {"scores": scores}, (), lambda reply: Judgment({}, 0, reply))


@pytest.fixture
def warehouse(empty_warehouse: Warehouse, loom_home: Path) -> Warehouse:
    """One item with two turns, both answered; nothing is judged."""
    asked = [{**HERE, **BY, "turn": turn, "trial": "plain"} for turn in (1, 2)]
    answer = {"status": "answered", "answer": "A"}
    answers = [{**at, **answer, "call_key": f"a{at['turn']}"} for at in asked]
    rows = {"release.items": [HERE], "release.turns": asked, "evaluate.answers": answers}
    put(empty_warehouse, rows)
    return empty_warehouse


def judged(warehouse: Warehouse, *given: tuple[int, str, str, int], of: str = "a") -> list[Any]:
    """What is observed of judgments of the answers' calls: turn, part, version, score."""
    rows = [
        {
            **{**HERE, **BY, "trial": "plain", "judge": "j", "replicate": 0},
            **{"turn": turn, "part": part, "scores": [(part, score)], "score": score},
            **{"answer_call_key": f"{of}{turn}", "judge_version": version},
        }
        for turn, part, version, score in given
    ]
    put(warehouse, {"evaluate.judgments": rows})
    resources = {"warehouse": warehouse, "benchmarks": {"two": Two()}}
    assert dg.materialize([observations], resources=resources).success
    found = warehouse.sql(
        "SELECT judge_version, metric, turn, status, value FROM evaluate.observations ORDER BY ALL"
    )
    return [tuple(row.values()) for row in found.to_pylist()]


def test_the_judgment_of_an_earlier_answer_is_nobodys(warehouse: Warehouse) -> None:
    grades = ((1, "turn", BOTH, 4), (2, "turn", BOTH, 8), (2, "whole", BOTH, 7))
    assert judged(warehouse, *grades, of="earlier ") == []
    assert warehouse.count("evaluate.provenance") == 0
    assert len(judged(warehouse, *grades)) == warehouse.count("evaluate.provenance") == 3


def test_grades_of_one_version_are_not_put_beside_those_of_another(warehouse: Warehouse) -> None:
    other = "two/turn@1 two/whole@2 both@1"
    found = judged(warehouse, (1, "turn", BOTH, 4), (2, "turn", BOTH, 8), (2, "whole", other, 7))
    # The whole was judged on other grades than those of its own version, of which there are none.
    assert found == [
        (BOTH, "turn", 1, "judged", 4),
        (BOTH, "turn", 2, "judged", 8),
        (BOTH, "whole", 2, "not_judged", None),
        (other, "turn", 1, "not_judged", None),
        (other, "turn", 2, "not_judged", None),
    ]


def test_the_version_of_a_judging_has_every_prompt_and_how_it_is_judged(tmp_path, monkeypatch):
    def version(whole: str, images: Any = "shown") -> str:
        for name, text in zip(PROMPTS, ("Grade it.", whole), strict=True):
            path = tmp_path / "two" / "prompts" / f"{name.removeprefix('two/')}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n=== user ===\nx\n")
        prompts._load.cache_clear()
        return judge_version(Two(), images)

    monkeypatch.setattr(prompts, "PROMPTS_ROOT", tmp_path)
    strict, kind = version("Be strict."), version("Be kind.")
    first, second, rule = strict.split(" ")
    assert (first.partition("@")[0], second.partition("@")[0], rule) == (*PROMPTS, "both@1")
    assert kind.split(" ")[0] == first and kind.split(" ")[1] != second
    assert version("Be strict.", "none") == f"{strict} images=none"
