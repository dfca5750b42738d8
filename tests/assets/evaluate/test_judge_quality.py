"""The asset `evaluate/judge_quality` on a warehouse filled by hand."""

import math
from collections.abc import Mapping
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.judge_quality import judge_quality
from methods.benchmarks import BENCHMARKS
from methods.mmdu.judging import DIMENSIONS, OVERALL
from tests.assets.review.desk import Desk
from tests.assets.world import metadata

pytestmark = pytest.mark.slow

Row = dict[str, Any]
Scores = Mapping[tuple[str, str, int], tuple[int, ...]]
"""Replicates by judge, model and item."""

BENCHMARK = {"benchmark": "mmdu", "release_id": "r"}
PLAIN = {"trial": "plain", "turn": 1, "part": "turn"}
MODELS = ("a", "b", "c")
WORDS = {"a": "one", "b": "one two", "c": "one two three"}


def answer(model: str, item: int) -> str:
    """As many words as the model writes, and the item's number as one more."""
    return f"{WORDS[model]} {item}"


@pytest.fixture
def evaluated(desk: Desk) -> Desk:
    """Two items of one turn, answered by three models; nothing is observed."""
    items = [{**BENCHMARK, "item_id": f"{item}", "turn": 1} for item in (1, 2)]
    asked = [{**item, "question": f"Question {item['item_id']}?"} for item in items]
    desk.fill("release.items", items)
    desk.fill("release.turns", [{**turn, "image_positions": [1]} for turn in asked])
    references = [{**item, "kind": "answer", "reference": "It is so."} for item in items]
    desk.fill("release.references", references)
    desk.fill("release.images", [{**item, "position": 1} for item in items])
    desk.fill(
        "evaluate.answers",
        [
            {**item, **PLAIN, "model": model, "status": "answered"}
            | {"answer": answer(model, int(item["item_id"]))}
            for item in items
            for model in MODELS
        ],
    )
    return desk


def observe(desk: Desk, scores: Scores, judge_version: str = "v") -> None:
    """Observations in the place of all others: every dimension has the same score."""
    desk.fill(
        "evaluate.observations",
        [
            {**BENCHMARK, **PLAIN, "model": model, "judge": judge, "judge_version": judge_version}
            | {"item_id": f"{item}", "replicate": replicate, "metric": metric}
            | {"status": "judged", "value": float(score)}
            for (judge, model, item), replicates in scores.items()
            for replicate, score in enumerate(replicates)
            for metric in DIMENSIONS
        ],
    )


def of(judge: str, first: tuple[int, ...], second: tuple[int, ...]) -> Scores:
    """What a judge gave the models' answers to both items."""
    return {
        (judge, model, item): (score,)
        for item, given in ((1, first), (2, second))
        for model, score in zip(MODELS, given, strict=True)
    }


def materialize(desk: Desk) -> Row:
    """Metadata of the asset."""
    resources = {"warehouse": desk.warehouse, "review_store": desk.store, "benchmarks": BENCHMARKS}
    config = {"evaluate__judge_quality": {"config": {"n_resamples": 100}}}
    result = dg.materialize([judge_quality], resources=resources, run_config={"ops": config})
    return metadata(result)


def figures(desk: Desk, judge: str, other: str = "") -> dict[tuple[str, str], Row]:
    """Overall figures of one judge, or of it and another: by unit or model, and measure."""
    rows = desk.rows(
        f"FROM evaluate.judge_quality WHERE judge = '{judge}' AND other = '{other}' "
        f"AND metric = '{OVERALL}'"
    )
    return {(row["unit"] or row["subject"], row["measure"]): row for row in rows}


def test_one_judge_has_a_distribution_and_figures_of_length(evaluated: Desk) -> None:
    # Longer answers have higher scores throughout: 2, 3 and 4 words.
    observe(evaluated, of("j", (4, 6, 10), (5, 7, 10)))
    shown = materialize(evaluated)
    found = figures(evaluated, "j")
    # Ranks of the scores 1, 2, 3, 4, 5.5, 5.5, of the lengths 1.5, 1.5, 3.5, 3.5, 5.5, 5.5: their
    # covariance is 16, their squares 17 and 16.
    assert found["", "length_correlation"]["value"] == pytest.approx(4 / math.sqrt(17))
    assert {row["judge"] for row in evaluated.rows("FROM evaluate.judge_quality")} == {"j"}
    assert "| `r` | `j` | `v` | 7.00 | 0.33 | 0.97 | – |" in shown["judges"]
    assert shown["agreement"] == "none"


def test_two_judges_agree_and_make_a_panel(evaluated: Desk) -> None:
    observe(evaluated, {**of("k", (5, 7, 8), (5, 7, 9)), **of("j", (4, 6, 9), (5, 7, 9))})
    shown = materialize(evaluated)
    found = figures(evaluated, "j", "k")
    # Of 6 answers three are 1 point apart.
    assert found["answer", "mae"]["value"] == pytest.approx(3 / 6)
    assert figures(evaluated, "k", "j") == {}, "a pair has one row"
    panel = figures(evaluated, "panel")
    assert panel["", "mean"]["value"] == pytest.approx((4.5 + 6.5 + 8.5 + 5 + 7 + 9) / 6)
    assert panel["", "variance_share_judge"]["value"] is not None
    (version,) = {row["judge_version"] for row in panel.values()}
    assert version == "mean of j, k, v"
    assert "| `r` | `j` | `v` | `k` |" in shown["agreement"]


def test_judges_of_two_versions_make_no_panel_and_are_not_compared(evaluated: Desk) -> None:
    observe(evaluated, of("j", (4, 6, 9), (5, 7, 9)))
    rows = evaluated.rows("FROM evaluate.observations")
    other = [{**row, "judge": "k", "judge_version": "v images=none"} for row in rows]
    evaluated.fill("evaluate.observations", [*rows, *other])
    materialize(evaluated)
    assert figures(evaluated, "panel") == figures(evaluated, "j", "k") == {}
    assert figures(evaluated, "j") != {} != figures(evaluated, "k")


def test_people_are_compared_with_a_judge_on_each_model_s_answers(evaluated: Desk) -> None:
    observe(evaluated, of("j", (4, 6, 9), (5, 7, 9)))
    contents = [
        {"image_ids": [], "question": "Question 1?", "reference": "It is so."}
        | {"answer": answer(model, 1), "dimensions": [OVERALL], "lowest": 1, "highest": 10}
        | {"scores": {OVERALL: None}}
        for model in MODELS
    ]
    evaluated.queue("score", contents)
    evaluated.decide(
        "ann",
        [
            {"verdict": "edit", "edits": content | {"scores": {OVERALL: points}}}
            for content, points in zip(contents, (2, 6, 10), strict=True)
        ],
    )
    shown = materialize(evaluated)
    found = figures(evaluated, "j", "people")
    # 4, 6, 9 against 2, 6, 10.
    assert (found["answer", "mae"]["n"], found["answer", "mae"]["value"]) == (3, pytest.approx(1))
    assert found["model", "spearman"]["value"] == pytest.approx(1)
    assert "| `r` | `j` | `v` | `people` | 0.67 " in shown["agreement on answers, 1 to 10"]
    others = evaluated.rows(
        "SELECT DISTINCT metric, other FROM evaluate.judge_quality WHERE other <> ''"
    )
    assert others == [{"metric": OVERALL, "other": "people"}]
    assert "| `r` | `j` | `v` | `people` | 1.00 | 1.00 | 1.00 |" in shown["agreement"]
