"""What models.yaml says of models and their families, and slices by two labels, in tables."""

from pathlib import Path

import dagster as dg
import pytest
import yaml

from assets.evaluate.comparisons import comparisons
from assets.evaluate.leaderboard import leaderboard
from assets.evaluate.model_groups import model_groups
from assets.evaluate.scores import scores
from assets.release.published import write_imported
from methods.benchmarks import BENCHMARKS
from methods.choice.passes import RIGHT
from methods.evaluation.items import Item, Turn
from methods.mmdu.judging import DIMENSIONS
from methods.release import Edition
from resources.llm.registry import load_registry
from resources.warehouse import Warehouse
from tests.assets.filled import put
from tests.assets.review.desk import Desk

ENTRIES = {
    "base": {"access": "open", "parameters": 7, "backbone": "LLaMA"},
    "tuned": {"access": "open", "parameters": 7, "backbone": "LLaMA", "trained_on": ["mmdu-45k"]},
    "closed": {"access": "proprietary", "reference_rank": 2},
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
    here = {"benchmark": "mmiu", "release_id": release_id, "turn": 1, "trial": "plain"}
    answers = [
        {**here, "model": model, "item_id": name, "value": float(value), "status": "answered"}
        for model, values in VALUES.items()
        for name, value in zip(ITEMS, values, strict=True)
    ]
    desk.fill("evaluate.answers", [{**row, "answer": "A"} for row in answers])
    judged = {"judge": "rule", "replicate": 0, "part": "", "status": "judged", "metric": RIGHT}
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


def test_groups_are_by_ability_and_best_models_by_task(scored: Desk) -> None:
    rows = scored.rows(
        "SELECT subject, subset_value, value FROM evaluate.model_groups "
        "WHERE measure = 'mean' AND subset_label IN ('', 'task')"
    )
    means = {(row["subject"], row["subset_value"]): row["value"] for row in rows}
    # Open models by item: 2, 1, 0 and 1 of 3 are right.
    assert means["access: open", ""] == pytest.approx(100 / 3)
    assert means["access: open", "VO"] == means["", "GAR"] + 12.5 == 50
    assert means["access: proprietary", "GAR"] == 100
    (best,) = scored.rows(
        "SELECT other, value FROM evaluate.model_groups "
        "WHERE measure = 'best' AND subject = '' AND subset_value = 'GAR'"
    )
    assert best == {"other": "closed", "value": 100}


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


R = {"release_id": "mmdu-0123456789"}
MODELS = ("gpt-4o-2024-08-06", "gpt-4o-mini-2024", "qwen", "baseline:reference")
FAMILIES = {MODELS[0]: "gpt", MODELS[1]: "gpt", MODELS[2]: "qwen"}


@pytest.fixture
def warehouse(loom_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    """Three models and a baseline, judged by the first model on one release that `qwen` wrote."""
    entries = {
        name: {"provider": "openai", "model": name, "family": family}
        for name, family in FAMILIES.items()
    }
    profile = {"writer": "qwen", "judge": MODELS[0], "evaluate": list(MODELS)}
    models = tmp_path / "models.yaml"
    models.write_text(yaml.safe_dump({"profiles": {"p": profile}, "models": entries}))
    monkeypatch.setenv("LOOM_MODELS", str(models))
    made = Warehouse(loom_home / "warehouse.duckdb")
    item = {**R, "item_id": "i"}
    turns = [{**item, "turn": turn} for turn in (1, 2)]
    of_model = [
        {**turn, "benchmark": "mmdu", "model": model, "trial": "plain"}
        for turn in turns
        for model in MODELS
    ]
    card = {"name": "mmdu", "kind": "benchmark", "benchmark": "mmdu", "origin": "built"}
    judged = {"judge": MODELS[0], "replicate": 0, "part": "turn", "status": "judged"}
    put(
        made,
        {
            "release.releases": [{**R, **card, "review_policy": "none", "writers": ["qwen"]}],
            "release.items": [item],
            "release.turns": turns,
            "evaluate.answers": [{**row, "status": "answered", "answer": "A"} for row in of_model],
            "evaluate.observations": [
                {**row, **judged, "metric": metric, "value": float(grade)}
                for grade, row in enumerate(of_model, start=1)
                for metric in DIMENSIONS
            ],
        },
    )
    given = {"warehouse": made, "benchmarks": BENCHMARKS}
    dg.materialize([scores, comparisons], resources=given)
    return made


def test_the_leaderboard_says_whose_answers_are_the_judges_or_the_writers(warehouse):
    rows = warehouse.select("evaluate.leaderboard").to_pylist()
    assert {row["model"]: row["related"] for row in rows} == {
        MODELS[0]: "self",
        MODELS[1]: "family",
        "qwen": "self",
        "baseline:reference": None,
    }
    ranks = warehouse.sql("SELECT DISTINCT model, related FROM evaluate.ranks").to_pylist()
    assert {row["model"]: row["related"] for row in ranks} == {
        MODELS[0]: "is the judge",
        MODELS[1]: "judge's family",
        "qwen": "is the writer",
        "baseline:reference": None,
    }
