"""A judge's and a writer's own answers, and those of their relatives, are marked on the leaderboard."""

from pathlib import Path

import dagster as dg
import pytest
import yaml

from assets.evaluate.comparisons import comparisons
from assets.evaluate.scores import scores
from methods.benchmarks import BENCHMARKS
from methods.mmdu.judging import DIMENSIONS
from resources.warehouse import Warehouse
from tests.assets.filled import put

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
