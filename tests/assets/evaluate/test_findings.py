"""Analyses in one table of findings, each by itself; families and slices by two labels."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from assets.common.tables import SOURCES
from assets.evaluate.comparisons import comparisons
from assets.evaluate.error_attribution import error_attribution
from assets.evaluate.findings import AnalysisResult, analysis, rows_of
from assets.evaluate.language_gaps import language_gaps
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.model_groups import model_groups
from assets.evaluate.prompt_sensitivity import prompt_sensitivity
from assets.evaluate.scores import scores
from assets.release.published import write_imported
from methods.benchmarks import BENCHMARKS
from methods.choice.passes import RIGHT
from methods.convbench.attribution import PERCEPTION_GIVEN
from methods.convbench.scores import PERFECT_PERCEPTION, REASONING
from methods.evaluation.asking import PLAIN
from methods.evaluation.findings import Finding, counted
from methods.evaluation.items import Item, Turn
from methods.evaluation.verdicts import ORDERS
from methods.release import Edition
from resources.llm.registry import load_registry
from resources.warehouse import Warehouse
from tests.assets.review.desk import Desk
from tests.assets.world import metadata

TABLES = ("evaluate.language_gaps", "evaluate.prompt_sensitivity")
OF = {"benchmark": "b", "release_id": "r"}
WORDINGS = ("What is it?", "Describe it.", "Please describe what is to be seen in it.")
RATINGS = {"v": (9, 3, 6), "w": (5, 6, 4)}
"""Of the wordings of a question, by the version of the judging."""


def fill(desk: Desk) -> str:
    """Two questions in three wordings each, with equal ratings by a judge in two versions."""
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
            {**row, **judged, "judge_version": version, "status": "judged", "value": rating}
            for version, ratings in RATINGS.items()
            for row, rating in zip(asked, ratings * 2, strict=True)
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

    monkeypatch.undo()
    materialize(desk, prompt_sensitivity)
    assert desk.rows("FROM evaluate.prompt_sensitivity ORDER BY place") == before
    assert lost(desk) == {}


def test_a_measure_that_is_not_declared_is_no_finding(desk, measuring):
    asset = measuring("n_others")
    materialize(desk, asset)
    assert desk.rows("FROM evaluate.language_gaps") == []
    assert "n_others" in lost(desk)["evaluate.language_gaps"]
    (spec,) = asset.specs
    assert "- `n_pairs`: items of both" in (spec.description or "")


def test_effects_and_spreads_are_written_and_written_again_alike(desk: Desk) -> None:
    release_id = fill(desk)
    assert materialize(desk, prompt_sensitivity)["groups"] == 2 * len(RATINGS)
    spreads = desk.rows("FROM evaluate.prompt_sensitivity WHERE measure = 'lowest' ORDER BY ALL")
    assert [(row["judge_version"], row["subset_value"], row["other"]) for row in spreads] == [
        ("v", "g1", "g1-1"),
        ("v", "g2", "g2-1"),
        ("w", "g1", "g1-2"),
        ("w", "g2", "g2-2"),
    ]
    before = desk.warehouse.fingerprint("evaluate.prompt_sensitivity")
    materialize(desk, prompt_sensitivity)
    assert desk.warehouse.fingerprint("evaluate.prompt_sensitivity") == before

    of = {"release_id": release_id, "n_groups": 1, "metric": "Rating"}
    widest = desk.warehouse.read("evaluate/widest_groups_of", of).to_pylist()
    assert [(row["judge_version"], row["item_id"], row["value"]) for row in widest] == [
        (version, f"g1-{place}", rating)
        for version, ratings in RATINGS.items()
        for place, rating in enumerate(ratings)
    ]


def test_an_error_that_goes_where_the_perception_is_given_is_attributed_by_judge(
    desk: Desk,
) -> None:
    """Of two items the model wins one only then, as `j` sees it; `k` sees no difference."""
    values = {("j", PLAIN): (0, 1), ("j", PERFECT_PERCEPTION): (1, 1)}
    values |= {("k", PLAIN): (1, 1), ("k", PERFECT_PERCEPTION): (1, 1)}
    observed = [
        {"benchmark": "convbench", "release_id": "r", "model": "m", "turn": 2, "trial": trial}
        | {"item_id": item, "judge": judge, "judge_version": "v", "replicate": 0, "part": order}
        | {"metric": REASONING, "status": "judged", "value": float(value)}
        for (judge, trial), of_items in values.items()
        for item, value in zip("ab", of_items, strict=True)
        for order in ORDERS
    ]
    desk.release([{**row, "question": "Q?", "reference": "R."} for row in observed[:4:2]])
    answers = {(row["item_id"], row["trial"]): row for row in observed}.values()
    desk.fill("evaluate.answers", [{**row, "status": "answered", "answer": "A"} for row in answers])
    desk.fill("evaluate.observations", observed)
    told = materialize(desk, error_attribution)
    rows = desk.rows(
        f"FROM evaluate.error_attribution WHERE change = '{PERCEPTION_GIVEN}' "
        f"AND dimension = '{REASONING}' AND subset_label = '' ORDER BY judge"
    )
    assert {row["judge"]: row["difference"] for row in rows if row["judge"] in "jk"} == {
        "j": 50,
        "k": 0,
    }
    assert {(row["before_trial"], row["trial"]) for row in rows} == {(PLAIN, PERFECT_PERCEPTION)}
    assert (told["releases"], told["causes named"]) == (1, 0)


BASE = {"access": "open", "parameters": 7, "backbone": "LLaMA", "family": "llama"}
ENTRIES = {
    "base": BASE,
    "tuned": {**BASE, "trained_on": ["mmdu-45k"]},
    "closed": {"access": "proprietary", "family": "gpt", "reference_rank": 2},
}
ITEMS = {"a": ("VO", "yes"), "b": ("VO", "no"), "c": ("GAR", "yes"), "d": ("GAR", "no")}
VALUES = {"base": "1000", "tuned": "1101", "closed": "1111", "file:base": "0000"}
"""Whether each model is right, by item."""


@pytest.fixture
def scored(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    models = tmp_path / "models.yaml"
    entries = {name: {"provider": "openai", **entry} for name, entry in ENTRIES.items()}
    profile = {"judge": "base", "evaluate": list(ENTRIES)}
    models.write_text(yaml.safe_dump({"profiles": {"p": profile}, "models": entries}))
    monkeypatch.setenv("LOOM_MODELS", str(models))
    items = [
        Item(name, (Turn(1, "Q?", ()),), labels={"task": task, "answerable": answerable})
        for name, (task, answerable) in ITEMS.items()
    ]
    edition = Edition("mmiu", None, "en", "imported")
    release_id = write_imported(desk.warehouse, "mmiu-en", edition, items, {"file": "f"})
    card = desk.warehouse.select("release.releases").to_pylist()
    desk.fill("release.releases", [{**row, "writers": ["closed"]} for row in card])
    here = {"benchmark": "mmiu", "release_id": release_id, "turn": 1, "trial": "plain"}
    answers = [
        {**here, "model": model, "item_id": name, "value": float(value), "status": "answered"}
        for model, values in VALUES.items()
        for name, value in zip(ITEMS, values, strict=True)
    ]
    desk.fill("evaluate.answers", [{**row, "answer": "A"} for row in answers])
    judged = {"judge": "base", "replicate": 0, "part": "", "status": "judged", "metric": RIGHT}
    desk.fill("evaluate.observations", [{**row, **judged} for row in answers])
    given = {
        "warehouse": desk.warehouse,
        "benchmarks": BENCHMARKS,
        "profile": load_registry().profile("p"),
    }
    dg.materialize([scores, comparisons, leaderboard, model_groups], resources=given)
    return desk


def test_the_leaderboard_has_the_fields_of_models_yaml(scored: Desk) -> None:
    rows = scored.rows(
        "SELECT DISTINCT model, access, parameters, trained_on, reference_rank "
        "FROM evaluate.leaderboard ORDER BY model"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("base", "open", 7, [], None),
        ("closed", "proprietary", None, [], 2),
        # Predictions have the fields of the entry that they are named after.
        ("file:base", "open", 7, [], None),
        ("tuned", "open", 7, ["mmdu-45k"], None),
    ]


def test_models_that_differ_by_their_training_are_before_and_after(scored: Desk) -> None:
    rows = scored.rows(
        "SELECT before, after, trained_on, value_before, value_after, difference, ci_low, ci_high "
        "FROM evaluate.training_effects WHERE metric = 'Accuracy' AND aggregation = 'micro' "
        "ORDER BY before"
    )
    base, of_file = rows
    assert [*base.values()][:6] == ["base", "tuned", "mmdu-45k", 25, 75, 50]
    assert base["ci_low"] < 50 < base["ci_high"]
    assert (of_file["before"], of_file["difference"]) == ("file:base", 75)
    # Groups have means: open models by item 2, 1, 0 and 1 of 3 right.
    rows = scored.rows(
        "SELECT subject, subset_value, value FROM evaluate.model_groups "
        "WHERE measure = 'mean' AND subset_label IN ('', 'task')"
    )
    means = {(row["subject"], row["subset_value"]): row["value"] for row in rows}
    assert means["access: open", ""] == pytest.approx(100 / 3)
    assert (means["access: open", "VO"], means["access: proprietary", "GAR"]) == (50, 100)


def test_the_leaderboard_says_whose_answers_are_the_judges_or_the_writers(scored: Desk) -> None:
    related = {"base": "self", "closed": "self", "tuned": "family"}
    rows = scored.rows("SELECT DISTINCT model, related FROM evaluate.leaderboard")
    assert {row["model"]: row["related"] for row in rows if row["model"] in related} == related
    related = {"base": "is the judge", "closed": "is the writer", "tuned": "judge's family"}
    rows = scored.rows("SELECT DISTINCT model, related FROM evaluate.ranks")
    assert {row["model"]: row["related"] for row in rows if row["model"] in related} == related


def test_scores_are_split_by_the_two_labels_of_a_pair(scored: Desk) -> None:
    rows = scored.rows(
        "SELECT subset_value, value, n_items FROM evaluate.scores WHERE model = 'tuned' "
        "AND form = 'floor' AND metric = 'Accuracy' AND subset_label = 'task, answerable' "
        "ORDER BY subset_value"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("GAR, no", 100, 1),
        ("GAR, yes", 0, 1),
        ("VO, no", 100, 1),
        ("VO, yes", 100, 1),
    ]
