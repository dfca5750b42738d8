"""A judgment belongs to one answer: once a model has answered again it counts for nothing."""

from pathlib import Path

import dagster as dg
import pytest

from assets.common.tables import rows_to_arrow
from assets.evaluate import observations
from methods.benchmarks import BENCHMARKS
from methods.mmdu.judging import DIMENSIONS
from resources.warehouse import TableWrite, Warehouse

HERE = {"release_id": "r", "item_id": "i", "turn": 1}
ASKED = {**HERE, "trial": "plain"}
BY = {"benchmark": "mmdu", "model": "m", "provider": "mock"}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """One item with one turn, answered by the call `new`; what the judge said is set by the test."""
    rows = {
        "release.items": {**HERE, "ordinal": 1, "revision": 0, "reviewers": ["ann"], "labels": {}},
        "release.turns": {**HERE, "question": "Q", "image_positions": [1]},
        "release.references": {**HERE, "kind": "answer", "reference": "R"},
        "release.images": {
            **HERE,
            "position": 1,
            "image_id": "x",
            "page_url": "https://a.example",
            "title": "T",
        },
        "evaluate.answers": {
            **ASKED,
            **BY,
            "status": "answered",
            "answer": "A",
            "call_key": "new",
            "prompt_version": "v",
        },
    }
    made = Warehouse(tmp_path / "warehouse.duckdb")
    made.replace_all(
        [TableWrite(table, rows_to_arrow(table, [row]), {}) for table, row in rows.items()]
    )
    return made


def judge(warehouse: Warehouse, answer_call_key: str) -> tuple[int, list]:
    """Rows of provenance, and what is observed, once the answer of that call is judged."""
    judgment = {
        **ASKED,
        **BY,
        "judge": "j",
        "replicate": 0,
        "part": "turn",
        "scores": list(dict.fromkeys(DIMENSIONS, 7).items()),
        "score": 7,
        "explanation": "good",
        "answer_call_key": answer_call_key,
        "call_key": "k",
        "prompt_version": "p",
        "judge_version": "p",
    }
    warehouse.replace("evaluate.judgments", rows_to_arrow("evaluate.judgments", [judgment]))
    assert dg.materialize(
        [observations], resources={"warehouse": warehouse, "benchmarks": BENCHMARKS}
    ).success
    found = warehouse.sql("SELECT DISTINCT status, value FROM evaluate.observations").to_pylist()
    return warehouse.count("evaluate.provenance"), [tuple(row.values()) for row in found]


def test_the_judgment_of_the_answer_in_force_counts(warehouse: Warehouse, loom_home: Path) -> None:
    assert judge(warehouse, "new") == (1, [("judged", 7)])


def test_the_judgment_of_an_earlier_answer_is_nobodys(
    warehouse: Warehouse, loom_home: Path
) -> None:
    assert judge(warehouse, "old") == (0, [])
