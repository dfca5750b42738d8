"""The asset `evaluate/task_map`, its figures and section of the report, and the commands on tasks."""

import csv
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest
from matplotlib.colors import to_hex

from assets.evaluate.report_data import report_data
from dagster_project.cli import main as loom
from extras.task_map.assets.task_clusters import task_clusters
from extras.task_map.assets.task_map import task_map
from extras.task_map.methods.clustering import TaskMap, leaves
from extras.task_map.resources.picture import picture_of, tree_figure
from methods.benchmarks import BENCHMARKS
from methods.results.methods_paragraph import EvaluationCalls
from resources.files.home import reports_path, warehouse_path
from resources.llm.registry import Profile
from resources.reports.benchmark_report import render_report
from resources.reports.figures import OTHER, PALETTE
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.assets.review.desk import Desk
from tests.extras.task_map.resources.weights import factors, save_adapter
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


def test_scores_of_tasks_are_of_the_first_metric_that_each_judge_splits(
    empty_warehouse: Warehouse,
) -> None:
    of = scores("read", (50.0,))[0] | {"place": 1}
    near: list[Row] = [{"subset_label": "another"}, {"form": "judged"}, {"aggregation": "macro"}]
    near += [{"value": None}, {"value": float("inf"), "ci_high": float("inf")}, {"place": 2}]
    shown = ("release_id", "judge", "judge_version", "subset_value", "model")
    others: list[Row] = [{name: f"z {name}", "place": 3} for name in shown[:3]]
    others += [{"subset_value": "z task"}, {"model": "z model"}]
    rows = [of | other for other in others]
    not_shown = [of | {"model": f"{n}", "metric": "b"} | other for n, other in enumerate(near)]
    put(empty_warehouse, {"evaluate.scores": [*rows, *not_shown, of]})
    found = empty_warehouse.read("evaluate/task_scores", {"label": "task"}).to_pylist()
    in_order = sorted([of, *rows], key=lambda row: [row[name] for name in shown])
    assert found == [
        {name: row["subset_value" if name == "task" else name] for name in found[0]}
        for row in in_order
    ]


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
    assert shown["maps"].startswith("No release that was scored has the label 'category'")


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


# a and b are 1 apart; c is 3 and 3.5 from them: the tree joins a and b at 1, and c at 3.25.
THREE = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 3.5], [3.0, 3.5, 0.0]])
MADE = TaskMap(("a", "b", "c"), THREE, (2, 2, 1), np.array([[0.0, 0.0], [0.0, 1.0], [4.0, 0.5]]))


ORDER = leaves(THREE)


def test_branches_meet_at_their_distance_in_the_colour_of_their_cluster() -> None:
    (axes,) = tree_figure(MADE, ORDER, {"a": "  12.3"}).axes
    names = {
        round(y): text.get_text()
        for y, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
    }
    assert [names[y] for y in (5, 15, 25)] == ["1  c", "2  a  12.3", "3  b"]
    bottom, top = axes.get_ylim()
    assert bottom > top, "the first task is at the top"
    branches = {
        max(x for path in lines.get_segments() for x, _ in path): lines.get_color()[0]
        for lines in axes.collections
    }
    assert sorted(branches) == [1.0, 3.25]
    colours = {distance: to_hex(colour) for distance, colour in branches.items()}
    assert colours == {1.0: PALETTE[1], 3.25: OTHER}


def test_clusters_have_their_mean_distance_and_score() -> None:
    first, second = picture_of(MADE, {"a": 10, "b": 20, "c": 70}, decimals=0).clusters
    assert (first.tasks, first.within, first.score) == (["c"], "–", "70")
    assert (second.tasks, second.within, second.score) == (["a", "b"], "1.00", "15")


TASKS = ("count", "order", "spot", "<b>")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    for seed, task in enumerate(TASKS):
        save_adapter(tmp_path / "vectors" / task, factors(seed // 2, rank=2), lora_alpha=1 + seed)
    return tmp_path / "vectors"


def test_a_map_is_a_page_and_a_table(vectors, loom_home, tmp_path, capsys) -> None:
    assert loom(["result", "task-map", str(vectors)]) == 0
    assert {path.name for path in reports_path().iterdir()} >= {"task-map.html", "task-map.csv"}
    capsys.readouterr()
    assert loom(["result", "task-map", "--out", str(tmp_path / "map.html"), str(vectors)]) == 0
    said = capsys.readouterr().out
    # Pairs of adapters that differ in scale alone; names are in the order of their signs.
    assert "4 tasks in 2 clusters, by LoRA adapters of tiny:" in said
    assert "<b>, spot" in said and "count, order" in said
    with (tmp_path / "map.csv").open() as file:
        lines = {line["task"]: line for line in csv.DictReader(file)}
    assert lines["count"]["cluster"] == lines["order"]["cluster"] != lines["spot"]["cluster"]
    assert float(lines["count"]["distance to order"]) == pytest.approx(0, abs=1e-6)
    assert {line["linkage"] for line in lines.values()} == {"average"}
    html = (tmp_path / "map.html").read_text()
    page = Page(html)
    assert "<b>" in page.text and "<b>" not in html and "http" not in page.attributes("a", "href")
    labels = page.attributes("svg", "aria-label")
    assert list(labels) == ["Map of 4 tasks in 2 clusters", "Tree of 4 tasks in 2 clusters"]
    assert "script" not in {tag for tag, _ in page.elements}


def test_control_characters_of_an_adapter_do_not_reach_the_terminal(
    vectors, loom_home, capsys
) -> None:
    for task in TASKS:
        config = vectors / task / "adapter_config.json"
        config.write_text(config.read_text().replace("tiny", "\\u001b]0;owned\\ud800"))
    assert loom(["result", "task-map", str(vectors)]) == 0
    assert r"by LoRA adapters of \u001b]0;owned\ud800:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["task-map", "nowhere"], "nowhere is not a folder"),
        (["task-map", "--out", "map.pdf", "."], "end it with .html"),
        (["difficulty"], "vlm-loom result difficulty: say ACCURACIES and RELEASE, too."),
    ],
)
def test_what_is_lacking_is_one_sentence(arguments, why, loom_home, capsys) -> None:
    loom_home.mkdir()
    assert loom(["result", *arguments]) == 2
    said = capsys.readouterr().err
    assert why in said and said.count("\n") == 1


def scored(release_id: str) -> None:
    """Four tasks with mean scores of 20, 30, 70 and 80, on a current release."""
    release = {"release_id": release_id, "name": "mmiu", "kind": "benchmark"}
    release |= {"origin": "built", "review_policy": "none"}
    scores = {"b": 20.0, "a": 30.0, "d": 70.0, "c": 80.0}
    rows = [
        {"release_id": release_id, "task": task, "place": place, "mean_score": score}
        | {"reason": "none"}
        for place, (task, score) in enumerate(scores.items(), start=1)
    ]
    tables = {"release.releases": [release], "release.current": [release]}
    put(Warehouse(warehouse_path()), {**tables, "evaluate.task_map": rows})


@pytest.mark.usefixtures("loom_home")
def test_difficulty_ranks_tasks_and_correlates(tmp_path, capsys) -> None:
    scored("mmiu-1")
    (tmp_path / "after.csv").write_text("task,accuracy\na,0.1\nb,0.2\nc,0.6\nd,0.9\nz,1\n")
    assert loom(["result", "difficulty", str(tmp_path / "after.csv"), "mmiu"]) == 0
    said = capsys.readouterr().out
    lines = [line.split() for line in said.splitlines()]
    assert ["1", "b", "20.00", "0.2"] in lines and ["4", "c", "80.00", "0.6"] in lines
    assert "Spearman's rho over 4 tasks: 0.60" in said and "p = 0.4167" in said
    assert "Below the median of both: a, b" in said
    assert "Left out, only in the file: z" in said
