"""Which judgments are observed: those of the present answers, together by version; none mix."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.evaluate import observations
from assets.evaluate.judge import judge_version
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
from resources.settings import prompts
from resources.warehouse import Warehouse
from tests.assets.filled import put

PROMPTS = ("two/turn", "two/whole")
HERE = {"release_id": "r", "item_id": "i"}
BY = {"benchmark": "two", "model": "m"}
NOW = "two/turn@1 two/whole@1 both@1"


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
    grades = ((1, "turn", NOW, 4), (2, "turn", NOW, 8), (2, "whole", NOW, 7))
    assert judged(warehouse, *grades, of="earlier ") == []
    assert warehouse.count("evaluate.provenance") == 0
    assert len(judged(warehouse, *grades)) == warehouse.count("evaluate.provenance") == 3


def test_what_both_prompts_gave_is_one_judging(warehouse: Warehouse) -> None:
    found = judged(warehouse, (1, "turn", NOW, 4), (2, "turn", NOW, 8), (2, "whole", NOW, 7))
    assert found == [
        (NOW, "turn", 1, "judged", 4),
        (NOW, "turn", 2, "judged", 8),
        (NOW, "whole", 2, "judged", 7),
    ]


def test_grades_of_one_version_are_not_put_beside_those_of_another(warehouse: Warehouse) -> None:
    other = "two/turn@1 two/whole@2 both@1"
    found = judged(warehouse, (1, "turn", NOW, 4), (2, "turn", NOW, 8), (2, "whole", other, 7))
    # The whole was judged on other grades than those of its own version, of which there are none.
    assert found == [
        (NOW, "turn", 1, "judged", 4),
        (NOW, "turn", 2, "judged", 8),
        (NOW, "whole", 2, "not_judged", None),
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
