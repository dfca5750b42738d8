"""Analyses beside each other in one table of findings: each has its own rows, and fails by itself."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import dagster as dg
import pytest

from assets.common.tables import SOURCES
from assets.evaluate.findings import AnalysisResult, analysis, rows_of
from assets.evaluate.language_gaps import language_gaps
from assets.evaluate.prompt_sensitivity import prompt_sensitivity
from assets.release.published import write_imported
from methods.benchmarks import BENCHMARKS
from methods.evaluation.findings import Finding, counted
from methods.evaluation.items import Item, Turn
from methods.release import Edition
from resources.warehouse import Warehouse
from tests.assets.review.desk import Desk
from tests.assets.world import metadata

TABLES = ("evaluate.language_gaps", "evaluate.prompt_sensitivity")
OF = {"benchmark": "b", "release_id": "r"}


WORDINGS = ("What is it?", "Describe it.", "Please describe what is to be seen in it.")
RATINGS = (9, 3, 6)


def fill(desk: Desk) -> str:
    """Two questions in three wordings each, with equal ratings by one judge."""
    items = [
        Item(
            f"g{group}-{place}",
            (Turn(1, text, (), {"answer": "It is a lake."}),),
            group_id=f"g{group}",
            labels={"task": "Description", "category": "Perception & Understanding"},
        )
        for group in (1, 2)
        for place, text in enumerate(WORDINGS)
    ]
    edition = Edition("alignmmbench", None, "en", "imported")
    release_id = write_imported(desk.warehouse, "align-en", edition, items, {"file": "f"})
    here = {"benchmark": "alignmmbench", "release_id": release_id, "model": "m", "turn": 1}
    asked = [{**here, "trial": "plain", "item_id": item.item_id} for item in items]
    desk.fill("evaluate.answers", [{**row, "status": "answered", "answer": "A"} for row in asked])
    judged = {"judge": "j", "replicate": 0, "metric": "Rating", "part": "answer"}
    desk.fill(
        "evaluate.observations",
        [
            {**row, **judged, "status": "judged", "value": rating}
            for row, rating in zip(asked, RATINGS * 2, strict=True)
        ],
    )
    return release_id


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dg.AssetsDefinition]:
    """In the place of the analysis of languages: one that finds three of a measure."""
    monkeypatch.setitem(SOURCES, TABLES[0], SOURCES[TABLES[0]])

    def made(measure: str) -> dg.AssetsDefinition:
        @analysis("language_gaps", {"n_pairs": "items of both"})
        def three(warehouse: dg.ResourceParam[Warehouse]) -> AnalysisResult:
            """What another analysis finds."""
            return AnalysisResult(rows_of([counted(Finding(), measure, "item", 3)], OF), {})

        return three

    return made


def materialize(desk: Desk, asset: dg.AssetsDefinition) -> dict[str, Any]:
    asks = {"warehouse": desk.warehouse, "benchmarks": BENCHMARKS}
    given = {name: asks[name] for name in asset.required_resource_keys & asks.keys()}
    return metadata(dg.materialize([asset], resources=given))


def lost(desk: Desk) -> dict[str, str]:
    return {row["step"]: row["reason"] for row in desk.rows("FROM evaluate.not_made")}


def test_each_analysis_writes_its_own_rows_and_its_data_version_is_of_them(desk, measuring):
    fill(desk)
    materialize(desk, prompt_sensitivity)
    before = [desk.warehouse.fingerprint(table) for table in TABLES]
    shown = materialize(desk, measuring("n_pairs"))
    after = [desk.warehouse.fingerprint(table) for table in TABLES]
    assert before[0] != after[0] and before[1] == after[1]
    assert shown["dagster/row_count"] == 1
    found = desk.rows(
        "SELECT analysis, count(*) AS n FROM evaluate.findings GROUP BY ALL ORDER BY 1"
    )
    assert found[0] == {"analysis": "language_gaps", "n": 1}
    assert found[1]["analysis"] == "prompt_sensitivity" and found[1]["n"] > 1


def test_one_that_fails_keeps_its_rows_and_the_others_are_made(desk, monkeypatch):
    release_id = fill(desk)
    materialize(desk, prompt_sensitivity)
    before = desk.rows("FROM evaluate.prompt_sensitivity ORDER BY place")

    def fails(*given: Any) -> None:
        raise ValueError("It cannot be read.")

    module = import_module("assets.evaluate.prompt_sensitivity")
    monkeypatch.setattr(module, "slices", fails)
    materialize(desk, prompt_sensitivity)
    materialize(desk, language_gaps)
    assert desk.rows("FROM evaluate.prompt_sensitivity ORDER BY place") == before
    assert list(lost(desk)) == ["evaluate.prompt_sensitivity"]
    assert "It cannot be read." in lost(desk)["evaluate.prompt_sensitivity"]

    # Of one release alone: the others' findings are made, and its own are not.
    monkeypatch.undo()
    monkeypatch.setattr(module, "sensitivity_findings", fails)
    assert release_id in materialize(desk, prompt_sensitivity)["not made"]
    assert desk.rows("FROM evaluate.prompt_sensitivity") == []


def test_a_measure_that_is_not_declared_is_no_finding(desk, measuring):
    asset = measuring("n_others")
    materialize(desk, asset)
    assert desk.rows("FROM evaluate.language_gaps") == []
    assert "n_others" in lost(desk)["evaluate.language_gaps"]
    (spec,) = asset.specs
    assert "- `n_pairs`: items of both" in (spec.description or "")


def test_effects_and_spreads_are_written_and_written_again_alike(desk: Desk) -> None:
    release_id = fill(desk)
    assert materialize(desk, prompt_sensitivity)["groups"] == 2
    spreads = desk.rows("FROM evaluate.prompt_sensitivity WHERE measure = 'lowest' ORDER BY ALL")
    assert [(row["subset_value"], row["other"]) for row in spreads] == [
        ("g1", "g1-1"),
        ("g2", "g2-1"),
    ]
    before = desk.warehouse.fingerprint("evaluate.prompt_sensitivity")
    materialize(desk, prompt_sensitivity)
    assert desk.warehouse.fingerprint("evaluate.prompt_sensitivity") == before

    of = {"release_id": release_id, "n_groups": 1, "metric": "Rating"}
    widest = desk.warehouse.read("evaluate/widest_groups_of", of).to_pylist()
    assert [(row["item_id"], row["value"]) for row in widest] == [
        ("g1-0", 9),
        ("g1-1", 3),
        ("g1-2", 6),
    ]
