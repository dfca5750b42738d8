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
from methods.benchmarks import BENCHMARKS
from methods.evaluation.findings import Finding, counted
from resources.warehouse import Warehouse
from tests.assets.evaluate.test_prompt_sensitivity import fill
from tests.assets.review.desk import Desk

TABLES = ("evaluate.language_gaps", "evaluate.prompt_sensitivity")
OF = {"benchmark": "b", "release_id": "r"}


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
    (event,) = dg.materialize([asset], resources=given).get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}


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
