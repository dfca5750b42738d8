"""How a model was asked is part of who it is: labels on leaderboards, in reports and in files."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path

import dagster as dg
import pytest

from methods.results.tables import tables
from resources.publishing.result_files import KINDS, read_results
from resources.warehouse import Warehouse
from tests.assets.conftest import CopyWorld
from tests.assets.filled import put
from tests.assets.world import ANY_ASSETS, RANKING, REPORTS, World
from tests.resources.reports.report_rows import Page
from tests.resources.site.reading import pieces_of

pytestmark = pytest.mark.slow

SITE = dg.AssetSelection.assets(["evaluate", "site"])
ASKED = {
    **{"temperature": "0", "seed": "none", "prompt": "dialogue@1", "context_policy": "fail"},
    **{"max_images": "50", "server": "https://one.example/v1", "model": "qwen", "version": "qwen"},
}


def labels(tmp_path: Path, *candidates: tuple[str, Mapping[str, str]]) -> dict[str, str]:
    """The label of each candidate, asked with ASKED and what differs."""
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    rows = [
        {
            **{"release_id": "mmdu-1", "model": model, "item_id": str(place), "turn": 1},
            **{"status": "refused", "settings": list({**ASKED, **changed}.items())},
        }
        for place, (model, changed) in enumerate(candidates)
    ]
    put(warehouse, {"evaluate.answers": rows})
    found = warehouse.select("evaluate.candidates", release_id="mmdu-1").to_pylist()
    return {row["model"]: row["label"] for row in found}


ELSEWHERE = {"server": "https://two.example/v1", "max_images": "8", "version": "qwen-0501"}


@pytest.mark.parametrize(
    ("candidates", "shown"),
    [
        pytest.param(
            [("cold", {}), ("warm", {"temperature": "0.7", "seed": "3"})],
            {"cold": "cold (T=0)", "warm": "warm (T=0.7, seed=3)"},
            id="only what differs",
        ),
        pytest.param([("a", {}), ("b", {})], {"a": "a", "b": "b"}, id="same settings"),
        pytest.param(
            [("a", {}), ("b", ELSEWHERE), ("c", {**ELSEWHERE, "model": "llama"})],
            {
                "a": "a (max_images=50, server=https://one.example/v1, version=qwen)",
                "b": "b (max_images=8, server=https://two.example/v1, version=qwen-0501)",
                "c": "c",
            },
            id="servers, limits and versions of one model",
        ),
        pytest.param(
            [("a", {}), ("a", {"temperature": "0.7"}), ("b", {})],
            {"a": "a (T=0 or 0.7)", "b": "b (T=0)"},
            id="asked in two ways",
        ),
    ],
)
def test_a_label_names_what_differs(tmp_path, candidates, shown):
    assert labels(tmp_path, *candidates) == shown


def test_an_archived_model_keeps_the_labels_until_scores_are_made_without_it(tmp_path):
    assert labels(tmp_path, ("cold", {}), ("warm", {"temperature": "0.7"}))
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    scored = [
        {"release_id": "mmdu-1", "model": model, "form": "floor", "n_turns": 9}
        for model in ("cold", "warm")
    ]
    archived = {"model": "warm", "judge": "", "release_id": "", "state": "archived"}
    put(warehouse, {"evaluate.archive": [archived], "evaluate.scores": scored})
    rows = warehouse.select("evaluate.candidates").to_pylist()
    assert [row["label"] for row in rows] == ["cold (T=0)", "warm (T=0.7)"]

    put(warehouse, {"evaluate.scores": scored[:1]})
    rows = warehouse.select("evaluate.candidates").to_pylist()
    assert [row["label"] for row in rows] == ["cold"]


@pytest.fixture(scope="module")
def world(released: World, copied: CopyWorld) -> World:
    """One model as two entries of models.yaml, at temperature 0 and 0.7, evaluated."""
    world = copied(released)
    world.set_models({"warm": {"temperature": 0.7}}, evaluate=["careful", "warm", "baseline:empty"])
    assert world.evaluate().success
    assert world.run(ANY_ASSETS, assets=RANKING | REPORTS | SITE).success
    return world


COLD, WARM = "careful (T=0)", "warm (T=0.7)"


def test_two_entries_of_one_model_are_told_apart_on_the_leaderboard_and_the_pages(world):
    rows = world.rows("SELECT DISTINCT model, label FROM evaluate.leaderboard")
    assert {row["model"]: row["label"] for row in rows} == {
        "careful": COLD,
        "warm": WARM,
        "baseline:empty": "baseline:empty",
    }
    (release,) = world.rows("SELECT DISTINCT release FROM evaluate.leaderboard")
    report = Page(world.report()).text
    assert report.count(COLD) > 2 and report.count(WARM) > 2
    # In full below the leaderboard.
    assert "How each model was asked" in report and "context_policy" in report
    (folder,) = (world.home / "reports" / "items" / release["release"]).iterdir()
    models = pieces_of(folder)["release"]["models"]
    assert [(model["name"], model["label"]) for model in models[:2]] == [
        ("careful", COLD),
        ("warm", WARM),
    ]
    assert models[1]["settings"]["temperature"] == "0.7"
    assert models[1]["settings"]["model"] == "offline-careful"
    assert models[2]["settings"] == {}


def test_files_have_the_label_and_each_setting(world: World) -> None:
    (release,) = world.rows("SELECT DISTINCT release FROM evaluate.leaderboard")
    results = read_results(world.warehouse, release["release"])
    files = dict(KINDS["csv"](results))
    rows = list(csv.DictReader(io.StringIO(files["leaderboard.csv"].decode())))
    asked = {
        row["label"]: (row["setting_temperature"], row["setting_max_tokens"], row["setting_prompt"])
        for row in rows
    }
    assert asked == {
        COLD: ("0", "2048", "dialogue@1"),
        WARM: ("0.7", "2048", "dialogue@1"),
        "baseline:empty": ("", "", ""),
    }
    assert "label" in files["metrics.csv"].decode().splitlines()[0].split(",")
    for table in tables(results.by_judge()[0]):
        shown = {cell.text for row in table.rows for cell in row} | set(table.heads)
        assert {COLD, WARM} <= shown, table.name
    svg = dict(KINDS["svg"](results))
    assert COLD in svg["leaderboard-two-columns.svg"].decode()
