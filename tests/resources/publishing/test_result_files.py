"""Results as files: the same rows in each kind, names that no spreadsheet computes, the file of the
OpenVLM leaderboard with the numbers that VLMEvalKit computes."""

import csv
import io
import json
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from methods.release_card import row_of
from methods.results.methods_paragraph import CallSettings, EvaluationCalls
from resources.llm.ledger import Call, Ledger
from resources.publishing.result_files import (
    COLUMNS,
    COUNTS,
    KINDS,
    ReleaseResults,
    ResultError,
    read_calls,
    read_results,
    write_files,
    write_open_vlm,
    write_results,
)
from resources.warehouse import Warehouse, arrow_schema
from tests.assets.filled import put
from tests.methods.results.test_methods_paragraph import metric
from tests.methods.results.test_tables import BOARD, HOSTILE, best, model, pair, slice_, trained
from tests.resources.llm.entries import call

pytestmark = pytest.mark.slow

CARD = {
    **{"n_items": 4, "n_turns": 20, "n_images": 9, "release_id": "mmdu-1", "name": "mmdu"},
    "created_at": "2026-03-02T09:14:55+00:00",
}
COLUMNS_OF_RESULTS = [
    *arrow_schema("evaluate.scores").names,
    *("judged_only", "rank", "rank_low", "rank_high", "coverage", "why", "mark", "related"),
    *("label", "settings"),
    *("access", "parameters", "backbone", "main_language", "trained_on", "reference_rank"),
]
NO_CALLS = EvaluationCalls([], {})
CALLED = {"created_at": "2026-03-02T09:14:55+00:00"}
LATER = {"created_at": "2026-03-04T09:14:55+00:00"}
NAMES = ("leaderboard", "pairs", "slices", "metrics", "findings", "training", "counts")


def filled(rows: list[dict[str, Any]], columns: list[str]) -> pa.Table:
    return pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows])


READ = {"analysis": "extraction_quality", "judge": "strict", "subject": "good", "n_clusters": 20}
BY_RULE = {**READ, "judge": "rule", "subject": ""}
RESULTS = ReleaseResults(
    filled(
        [
            *(*BOARD.models, model(f"={HOSTILE}", 10.0, 3)),
            *(
                metric(name, of, 40.0, place=place)
                for place, name in enumerate(("Richness", "Creativity"), start=1)
                for of in ("good", f"={HOSTILE}")
            ),
            *(*BOARD.slices, slice_("fair", "Größe 大", "דו", 5.0)),
        ],
        COLUMNS_OF_RESULTS,
    ),
    filled(
        [*BOARD.differences, pair("good", f"={HOSTILE}", 70.0, 0.01)],
        arrow_schema("evaluate.comparisons").names,
    ),
    filled(
        [
            *(
                {**best(*of), "analysis": "model_groups"}
                for of in (("good", "easy", 90.0), ("fair", "hard", 20.0))
            ),
            {**READ, "measure": "named", "subset_label": "letter", "subset_value": "B", "n": 8}
            | {"unit": "shift-1", "value": 0.375},
            {**READ, "measure": "difference", "judge": "second", "other": "strict", "value": -2.5}
            | {"ci_low": -4.0, "ci_high": -1.0, "metric": "Circular", "aggregation": "micro"},
            {**BY_RULE, "measure": "read", "n": 8, "value": 0.875, "ci_low": 0.6, "ci_high": 0.99},
            {**BY_RULE, "analysis": "judge_quality", "judge": "judge", "metric": "Overall"}
            | {"other": "people", "unit": "answer", "measure": "pearson", "value": 0.8125, "n": 30},
            {**BY_RULE, "measure": "cohen_kappa", "other": "second", "n": 7, "value": 0.625}
            | {"ci_low": 0.4, "ci_high": 0.8},
        ],
        arrow_schema("evaluate.findings").names,
    ),
    filled([trained("fair", "good", 19.96)], ["judge", "judge_version", *COLUMNS["training"]]),
    pa.Table.from_pylist(
        [
            {"release_id": "mmdu-1", "name": "Tokens", "value": value, "n": n, "unit": "dialogues"}
            for value, n in (("under 4k", 3), ("4k to 8k", 1))
        ],
        COUNTS,
    ),
)


def written_again(kind: str, folder: Path) -> dict[str, bytes]:
    files = write_results(RESULTS, kind, folder, CARD, None, NO_CALLS, {})
    return {file.name: file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], dict[str, bytes]]:
    """The files of a kind, which are written once: drawing takes seconds."""
    return cache(lambda kind: written_again(kind, tmp_path_factory.mktemp(kind)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "png"])
def test_each_kind_is_the_same_each_time_and_has_the_words(kind, written, tmp_path):
    files = written(kind)
    assert written_again(kind, tmp_path) == files
    assert b"Intervals are of 95 %" in files["methods.txt"] and len(files) > 2


def test_programs_get_every_row(written):
    rows = json.loads(written("json")["results.json"])
    assert [len(rows[name]) for name in NAMES] == [4, 3, 4, 8, 7, 1, 2]
    good = rows["leaderboard"][0]
    assert (good["release"], good["model"], good["value"]) == ("mmdu-1", "good", 80.0)
    assert good["why_no_rank"] is None and "form" not in good
    parquet = written("parquet")
    table = written("csv")
    for name in NAMES:
        assert pq.read_table(io.BytesIO(parquet[f"{name}.parquet"])).to_pylist() == rows[name]
        lines = list(csv.DictReader(io.StringIO(table[f"{name}.csv"].decode())))
        assert len(lines) == len(rows[name])
    models = csv.DictReader(io.StringIO(table["leaderboard.csv"].decode(), newline=""))
    assert [row["model"] for row in models][-1] == f"'={HOSTILE}", "it is no formula"


def test_papers_get_every_table_in_markdown_and_a_file_for_each_in_latex(written, golden):
    golden("results/results.md", written("markdown")["results.md"].decode())
    golden("results/latex_files.txt", "\n".join(sorted(written("latex"))))


def test_labels_that_share_a_file_name_have_files_of_their_own(tmp_path):
    counts = [
        {"release_id": "mmdu-1", "name": name, "value": f"of {name}", "n": 1, "unit": "items"}
        for name in ("颜色", "形状", "Size!", "size", "other 2")
    ]
    findings = [
        {**best("good", "easy", 90.0), "subset_label": label, "analysis": "model_groups"}
        for label in ("颜色", "形状")
    ]
    tables = RESULTS._replace(
        counts=pa.Table.from_pylist(counts, COUNTS),
        findings=filled(findings, arrow_schema("evaluate.findings").names),
    )
    files = write_results(tables, "latex", tmp_path, CARD, None, NO_CALLS, {})
    numbered = ("other", "other-2", "size", "size-2", "other-2-2")
    for row, name in zip(counts, numbered, strict=True):
        text = (tmp_path / f"counts-{name}.tex").read_text()
        assert row["value"] in text and f"tab:mmdu-1-counts-{name}}}" in text
    assert {tmp_path / "hardest-other.tex", tmp_path / "hardest-other-2.tex"} <= set(files)
    assert write_results(tables, "latex", tmp_path, CARD, None, NO_CALLS, {}) == files
    with pytest.raises(AssertionError, match="have the name a"):
        write_files(tmp_path, [("a", b"1"), ("a", b"2")])
    assert (tmp_path / "a").read_bytes() == b"1"


def test_pictures_open(written):
    for data in (files := written("png")).values():
        if data not in (files["methods.txt"], files["citations.bib"]):
            Image.open(io.BytesIO(data)).load()
    svg = (drawn := written("svg"))["leaderboard-one-column.svg"]
    assert {"radar-metrics-one-column.svg", "radar-metrics-two-columns.svg"} <= drawn.keys()
    assert svg.startswith(b"<?xml") and b"<dc:date>" not in svg


def test_a_path_that_cannot_be_a_folder_is_named(tmp_path):
    (tmp_path / "taken").write_text("mine")
    folder = tmp_path / "taken" / "more"
    with pytest.raises(ResultError) as raised:
        written_again("csv", folder)
    said = str(raised.value)
    assert said.startswith(f"Results cannot be written into {folder} (") and "Errno" not in said
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_release_without_scores_says_what_to_do(empty_warehouse):
    with pytest.raises(ResultError, match=r"^x has no scores yet: run vlm-loom run evaluate\.$"):
        read_results(empty_warehouse, "x")


def test_the_calls_behind_scores_are_those_of_models_by_role(empty_warehouse, tmp_path):
    place = {"release_id": "x", "item_id": "i", "trial": "t", "turn": 1}
    answers = [
        {"model": "m", "status": "answered", "call_key": "a"},
        {"model": "m", "status": "answered", "call_key": "later", "turn": 2},
        {"model": "no-images:m", "status": "answered", "call_key": "blind"},
        {"model": "file:n", "status": "answered", "call_key": None},
    ]
    read = {"answer_call_key": "a", "model": "m"}
    put(
        empty_warehouse,
        {
            "evaluate.answers": [{**place, **row, "answer": "A."} for row in answers],
            "evaluate.extractions": [
                {**place, **read, "extractor": "rule", "call_key": None},
                {**place, **read, "trial": "old", "extractor": "reader", "call_key": "r"},
                {**place, "model": "file:n", "extractor": "reader", "call_key": "r"},
            ],
            "evaluate.judgments": [{**place, "model": "m", "judge": "j", "call_key": "g"}],
        },
    )
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        ledger.add(
            [
                called("a", {"temperature": 0.0, "max_tokens": 2048}, answered_as="m-2026"),
                called("later", {"temperature": 0.0, "max_tokens": 2048}, answered_as="m", **LATER),
                called("r", {}, created_at="2026-03-05T00:00:00+00:00"),
                called("blind", {"temperature": 1.0}),
                called("g", {"temperature": 0.2, "max_completion_tokens": 100}),
            ]
        )
        found = read_calls(empty_warehouse, ledger, "x")
    day = "2026-03-02"
    assert found.settings == [
        CallSettings("answer", "m", [0.0], [2048], ["m-2026"], ["p@1"], day, "2026-03-04"),
        CallSettings("judge", "j", [0.2], [100], ["served"], ["p@1"], *[day] * 2),
        CallSettings("reader", "reader", [None], [None], ["served"], ["p@1"], *["2026-03-05"] * 2),
    ]
    assert found.readers == {"reader": 1, "rule": 1}, "without what was read of an earlier answer"


def called(key: str, params: dict[str, object], **changed: Any) -> Call:
    request = {"params": params, "model": "served", "prompt_version": "p@1"}
    return call(**{"key": key, "request": request, "answered_as": None} | CALLED | changed)


# --- The OpenVLM leaderboard's file ----------------------------------------------------------------


def score(model: str, metric: str, value: float, **other: Any) -> dict[str, Any]:
    row = {"release_id": "x-1", "benchmark": "mmbench", "judge": "rule"}
    row |= {"judge_version": "letter@2", "model": model, "metric": metric, "value": value}
    row |= {"subset_label": "", "subset_value": "", "aggregation": "micro", "form": "floor"}
    row |= {"n_judged": 4, "n_turns": 4}
    lost = ("n_failed", "n_refused", "n_truncated", "n_reasoning_only", "n_empty")
    return row | dict.fromkeys(lost, 0) | other


def both(model: str, strict: float, compat: float, **other: Any) -> list[dict[str, Any]]:
    return [
        score(model, "Circular", strict, **other),
        score(model, "Circular (compat)", compat, **other),
    ]


def open_vlm(
    warehouse: Warehouse, rows: list[dict[str, Any]], folder: Path, benchmark: str = "mmbench"
) -> list[dict[str, Any]]:
    """The files of a release with these scores."""
    put(warehouse, {"evaluate.scores": rows}, {"release_id": "x-1"})
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
        *both("file:m3", 90.0, 80.0, subset_label="l2-category", subset_value="coarse_perception"),
        *both("file:m3", 70.0, 60.0, subset_label="category", subset_value="ocr"),
        *both("file:m3", 1.0, 2.0, subset_label="choices", subset_value="4"),
        *both(HOSTILE, 50.0, 60.0),
        *both("baseline:random", 3.0, 3.0),
        *both("baseline:most-frequent", 4.0, 4.0),
        *both("no-images:file:m3", 9.0, 9.0),
    ]
    (read,) = open_vlm(empty_warehouse, rows, tmp_path)
    assert read["time"] == "260302091455"
    assert {model: of["MMBench_DEV_EN"] for model, of in read["results"].items()} == {
        "file:m3": {"Overall": 66.0, "CP": 80.0, "ocr": 60.0},
        HOSTILE: {"Overall": 60.0},
    }
    meta = read["results"][HOSTILE]["META"]
    assert meta.pop("Method") == [HOSTILE, ""] and set(meta.values()) == {""}


def test_a_category_never_replaces_the_overall_score_or_an_ability(empty_warehouse, tmp_path):
    rows = both("m", 90.0, 90.0)
    for label, value, number in (
        ("category", "Overall", 0.0),
        ("category", "CP", 1.0),
        ("category", "ocr", 100.0),
        ("l2-category", "CP", 2.0),
        ("l2-category", "Overall", 3.0),
        ("l2-category", "coarse_perception", 80.0),
    ):
        rows += both("m", number, number, subset_label=label, subset_value=value)
    (document,) = open_vlm(empty_warehouse, rows, tmp_path)
    scores = document["results"]["m"]["MMBench_DEV_EN"]
    assert scores == {"Overall": 90.0, "CP": 80.0, "ocr": 100.0}


def test_fields_of_models_yaml_fill_what_the_leaderboard_shows_of_a_model(
    empty_warehouse, tmp_path
):
    entry = {"parameters": 7.0, "backbone": "Vicuna", "access": "open"}
    put(empty_warehouse, {"evaluate.models": [{"model": "m", **entry}]})
    (read,) = open_vlm(empty_warehouse, both("m", 66.7, 66.0), tmp_path)
    meta = read["results"]["m"]["META"]
    shown = {name: meta[name] for name in ("Parameters", "Language Model", "OpenSource", "Org")}
    assert list(shown.values()) == ["7B", "Vicuna", "Yes", ""]


def test_mmdu_counts_turns_without_a_grade_as_0(empty_warehouse, tmp_path):
    rows = [
        score("m", "Overall Score", value, form=form, judge=judge, n_judged=3, n_turns=4)
        for judge, value in (("one", 80.0), ("two", 60.0))
        for form in ("floor", "judged")
    ]
    files = open_vlm(empty_warehouse, rows, tmp_path, "mmdu")
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
        open_vlm(empty_warehouse, rows, tmp_path, benchmark)
    assert not list(tmp_path.glob("openvlm*.json"))
