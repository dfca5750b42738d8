"""The OpenVLM leaderboard's file: the numbers that VLMEvalKit computes, of models alone."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assets.common.tables import rows_to_arrow
from methods.release_card import row_of
from resources.publishing.result_files import ResultError, write_open_vlm
from resources.warehouse import Warehouse, arrow_schema

HOSTILE = "<b>=1+1 \u5927"


def score(model: str, metric: str, value: float, **other: Any) -> dict[str, Any]:
    """A row of evaluate.scores: what is not said is empty, 0 or, of intervals, none."""
    row = {
        field.name: "" if pa.types.is_string(field.type) else 0
        for field in arrow_schema("evaluate.scores")
    }
    row |= {"release_id": "x-1", "benchmark": "mmbench", "judge": "rule", "model": model}
    row |= {"judge_version": "letter@2", "label": model, "metric": metric, "value": value}
    row |= {"aggregation": "micro", "form": "floor", "n_judged": 4, "n_turns": 4}
    return row | {"ci_low": None, "ci_high": None, "provider": "mock", "method": "m"} | other


def both(model: str, strict: float, compat: float, **other: Any) -> list[dict[str, Any]]:
    return [
        score(model, "Circular", strict, **other),
        score(model, "Circular (compat)", compat, **other),
    ]


def of_ability(label: str, value: str) -> dict[str, str]:
    return {"subset_label": label, "subset_value": value}


def written(
    warehouse: Warehouse, rows: list[dict[str, Any]], folder: Path, benchmark: str = "mmbench"
) -> list[dict[str, Any]]:
    """The files of a release with these scores."""
    table = pa.Table.from_pylist(rows, schema=arrow_schema("evaluate.scores"))
    warehouse.replace("evaluate.scores", table, {"release_id": "x-1"})
    card = {"release_id": "x-1", "name": "x", "kind": "benchmark", "benchmark": benchmark}
    card |= {"origin": "imported", "split": "dev", "language": "en"}
    card |= {"review_policy": "none", "review_share": 0.0}
    release = row_of({**card, "created_at": "2026-03-02T09:14:55+00:00"})
    files, notes = write_open_vlm(warehouse, release, None, folder)
    assert "baselines are left out" in notes[0]
    return [json.loads(file.read_text()) for file in files]


def test_the_numbers_are_vlmevalkit_s_reading_and_no_baseline_is_there(empty_warehouse, tmp_path):
    rows = [
        *both("file:m3", 70.5, 66.04),
        *both("file:m3", 90.0, 80.0, **of_ability("l2-category", "coarse_perception")),
        *both("file:m3", 70.0, 60.0, **of_ability("category", "ocr")),
        *both("file:m3", 1.0, 2.0, **of_ability("choices", "4")),
        *both(HOSTILE, 50.0, 60.0),
        *both("baseline:random", 3.0, 3.0),
        *both("baseline:most-frequent", 4.0, 4.0),
        *both("no-images:file:m3", 9.0, 9.0),
    ]
    (read,) = written(empty_warehouse, rows, tmp_path)
    assert read["time"] == "260302091455"
    assert {model: of["MMBench_DEV_EN"] for model, of in read["results"].items()} == {
        "file:m3": {"Overall": 66.0, "CP": 80.0, "ocr": 60.0},
        HOSTILE: {"Overall": 60.0},
    }
    meta = read["results"][HOSTILE]["META"]
    assert meta.pop("Method") == [HOSTILE, ""] and set(meta.values()) == {""}, (
        "as its pages read it"
    )


def test_fields_of_models_yaml_fill_what_the_leaderboard_shows_of_a_model(
    empty_warehouse, tmp_path
):
    entry = {"parameters": 7.0, "backbone": "Vicuna", "access": "open"}
    models = rows_to_arrow("evaluate.models", [{"model": "m", **entry, "trained_on": []}])
    empty_warehouse.replace("evaluate.models", models)
    (read,) = written(empty_warehouse, both("m", 66.7, 66.0), tmp_path)
    meta = read["results"]["m"]["META"]
    shown = {name: meta[name] for name in ("Parameters", "Language Model", "OpenSource", "Org")}
    assert list(shown.values()) == ["7B", "Vicuna", "Yes", ""]


def test_mmdu_counts_turns_without_a_grade_as_0(empty_warehouse, tmp_path):
    rows = [
        score("m", "Overall Score", value, form=form, judge=judge, n_judged=3, n_turns=4)
        for judge, value in (("one", 80.0), ("two", 60.0))
        for form in ("floor", "judged")
    ]
    files = written(empty_warehouse, rows, tmp_path, "mmdu")
    assert [file["results"]["m"]["MMDU"] for file in files] == [
        {"Overall": 60.0},
        {"Overall": 45.0},
    ]


@pytest.mark.parametrize(
    ("rows", "benchmark", "message"),
    [
        (
            [score("a", "Circular", 1.0), *both("b", 1.0, 1.0)],
            "mmbench",
            r"Circular \(compat\)/micro, .* not stored for a\. .* vlm-loom run evaluate\.$",
        ),
        (both("baseline:random", 1.0, 1.0), "mmbench", "no scores of models yet"),
        ([], "mmbench", "no scores of models yet"),
        ([score("a", "Rating", 8.9)], "alignmmbench", "computes no score .* --as json"),
        ([score("a", "F1", 8.9)], "counting", "computes no score .* --as json"),
    ],
)
def test_other_numbers_are_never_written_in_their_place(
    empty_warehouse, tmp_path, rows, benchmark, message
):
    with pytest.raises(ResultError, match=message):
        written(empty_warehouse, rows, tmp_path, benchmark)
    assert not list(tmp_path.glob("openvlm*.json"))
