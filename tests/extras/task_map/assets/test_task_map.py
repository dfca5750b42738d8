"""The asset `evaluate/task_map` and the section of the report, on scores written by hand."""

from typing import Any

import dagster as dg
import pytest

from assets.evaluate.report_data import report_data
from extras.task_map.assets.task_clusters import task_clusters
from extras.task_map.assets.task_map import task_map
from methods.benchmarks import BENCHMARKS
from methods.results.methods_paragraph import EvaluationCalls
from resources.llm.registry import Profile
from resources.reports.benchmark_report import render_report
from tests.assets.filled import put
from tests.assets.review.desk import Desk
from tests.resources.reports.report_rows import Page

pytestmark = pytest.mark.slow

Row = dict[str, Any]
READERS, ORDERERS = (90.0, 70.0, 50.0, 20.0), (30.0, 80.0, 20.0, 60.0)
"""Scores of the models a to d on two kinds of tasks."""
OF_RELEASE = {"benchmark": "mmiu", "release_id": "mmiu-1"}


def scores(task: str, values: tuple[float, ...], model: str = "") -> list[Row]:
    of = {**OF_RELEASE, "judge": "rule", "judge_version": "letter@1", "metric": "Accuracy"}
    of |= {"aggregation": "micro", "form": "floor", "n_units": 10, "n_turns": 10}
    of |= {"subset_label": "task" if task else "", "subset_value": task}
    return [
        {**of, "model": model or name, "value": value, "ci_low": value, "ci_high": value}
        for name, value in zip("abcd", values, strict=False)
    ]


def families() -> list[Row]:
    """Three tasks of reading and two of ordering."""
    found = scores("", (50, 60, 40, 40))
    for number in range(3):
        found += scores(f"read-{number}", tuple(min(100, each + number) for each in READERS))
    for number in range(2):
        found += scores(f"order-{number}", tuple(each / (number + 1) for each in ORDERERS))
    return found


def materialize(desk: Desk, **config: Any) -> Row:
    """Metadata of the asset."""
    result = dg.materialize(
        [task_map],
        resources={"warehouse": desk.warehouse},
        run_config={"ops": {"evaluate__task_map": {"config": config}}},
    )
    (event,) = result.get_asset_materialization_events()
    return {name: each.value for name, each in event.materialization.metadata.items()}


def rows(desk: Desk) -> dict[str, Row]:
    return {row["task"]: row for row in desk.rows("FROM evaluate.task_map")}


def test_clusters_have_their_distances_and_scores_over_their_tasks(desk: Desk) -> None:
    put(desk.warehouse, {"evaluate.scores": families()})
    tasks = ("read-0", "read-1", "read-2", "order-0", "order-1")
    items = [{**OF_RELEASE, "item_id": task, "turn": 1} for task in tasks]
    asked = [{**item, "trial": "plain", "model": model} for item in items for model in "ab"]
    of_rule = {"judge": "rule", "judge_version": "letter@1", "replicate": 0, "part": ""}
    put(
        desk.warehouse,
        {
            "release.items": [item | {"labels": [("task", item["item_id"])]} for item in items],
            "release.turns": items,
            "evaluate.answers": [row | {"status": "answered", "answer": "A"} for row in asked],
            "evaluate.observations": [
                {**row, **of_rule, "metric": "right", "status": "judged"}
                | {"value": float(row["model"] == "a" and row["item_id"] != "read-0")}
                for row in asked
            ],
        },
    )
    given = {"warehouse": desk.warehouse, "benchmarks": BENCHMARKS}
    dg.materialize([task_map, task_clusters], resources=given)
    found = {
        (row["measure"], row["subject"], row["subset_value"][3:]): row["value"]
        for row in desk.rows("FROM evaluate.task_clusters")
    }
    reading, ordering = "read-0, read-1, read-2", "order-0, order-1"
    assert found["cluster_mean", "a", reading] == pytest.approx(200 / 3)
    assert found["cluster_mean", "", ordering] == 50
    assert found["cluster_distance", "", ordering] == pytest.approx(0)


def test_two_families_of_tasks_are_two_clusters(desk: Desk) -> None:
    no_models = [
        row
        for name in ("baseline:reference", "no-images:a")
        for row in scores("read-0", (100,), model=name)
    ]
    put(desk.warehouse, {"evaluate.scores": [*families(), *no_models]})
    shown = materialize(desk)
    found = rows(desk)
    assert {row["n_models"] for row in found.values()} == {4}
    clusters = {task: row["cluster"] for task, row in found.items()}
    assert clusters["read-0"] == clusters["read-1"] == clusters["read-2"] != clusters["order-0"]
    assert clusters["order-0"] == clusters["order-1"]
    assert {row["linkage"] for row in found.values()} == {"average"}
    assert {row["label"] for row in found.values()} == {"task"}
    distances = {
        (row["first"], row["second"]): row["distance"]
        for row in desk.rows("FROM evaluate.task_distances")
    }
    assert len(distances) == 10
    # Half of each score is in the same order by the same amount.
    assert distances["order-0", "order-1"] == pytest.approx(0)
    assert "| `mmiu-1` | `rule` | 5 | 4 | 2 | none |" in shown["maps"]
    # A release without the label has no rows, and it is said.
    shown = materialize(desk, label="category")
    assert rows(desk) == {}
    assert (
        shown["maps"] == "No release that was scored has the label 'category' with several values."
    )


NO_CALLS = EvaluationCalls([], {})
PROFILE = Profile.model_validate({"writer": "w", "judges": ["j"], "evaluate": ["a"]})
RELEASE = {
    **{"name": "mmiu", "kind": "benchmark", "origin": "imported", "provider": "published"},
    **{"n_items": 50, "n_turns": 50, "n_images": 100, "is_current": True},
    **{"review_policy": "none", "review_share": 0.0, "created_at": "2026-03-02T09:14:55+00:00"},
    **dict.fromkeys(
        ("parent", "settings", "prompt_versions", "writers", "corpus", "project_version")
    ),
    **OF_RELEASE,
}


def page(desk: Desk) -> Page:
    data = report_data(desk.warehouse, BENCHMARKS, dict(RELEASE), PROFILE, {}, NO_CALLS)
    return Page(render_report(data, None))  # type: ignore[arg-type]


def test_the_report_shows_map_tree_clusters_and_ranking(desk: Desk) -> None:
    put(desk.warehouse, {"evaluate.scores": families()})
    materialize(desk)
    shown = page(desk)
    assert "Task map" in shown.words and "With so few models much of that is chance" in shown.words
    labels = shown.attributes("svg", "aria-label")
    assert labels == ["Map of 5 tasks in 2 clusters", "Tree of 5 tasks in 2 clusters"]
    # The page has a title, and each task on the plane.
    assert len([tag for tag, _ in shown.elements if tag == "title"]) == 1 + 5
    # Place, task, mean score, items, cluster: the hardest first.
    assert "1order-123.810" in "".join(shown.text.split())
    assert "order-0, order-1" in shown.words
