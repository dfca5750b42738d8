"""The commands on tasks: a map from weights with its page and table, and learning difficulty."""

import csv
from pathlib import Path

import pytest

from dagster_project.cli import main as loom
from resources.files.home import reports_path, warehouse_path
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.extras.task_map.resources.weights import factors, save_adapter
from tests.resources.reports.report_rows import Page

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


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["task-map"], "vlm-loom result task-map: say VECTORS, too."),
        (["task-map", "nowhere"], "nowhere is not a folder"),
        (["task-map", "--out", "map.pdf", "."], "end it with .html"),
        (["difficulty"], "vlm-loom result difficulty: say ACCURACIES and RELEASE, too."),
        (["difficulty", "a.csv", "mmiu"], "a.csv cannot be read"),
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
