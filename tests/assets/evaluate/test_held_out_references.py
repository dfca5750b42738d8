"""What the files of the reports tell of the references of a held-out split: nothing."""

import json
import re
import shutil
from contextlib import closing
from itertools import permutations
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.evaluate.release_diff import compare_releases, write_page
from assets.evaluate.reports import reports
from assets.evaluate.site import site
from dagster_project.results import export_results
from methods.benchmarks import BENCHMARKS
from resources.images.store import ImageStore
from resources.llm.ledger import Ledger
from resources.llm.registry import Profile
from resources.stores_of_home import bring_home_up_to_date
from resources.warehouse import Warehouse
from tests.assets.filled import put

pytestmark = pytest.mark.slow

PROFILE = Profile.model_validate({"writer": "w", "judges": ["j"], "evaluate": ["good", "bad"]})
TIME = re.compile(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d[+:0-9]*)?")
RELEASE = {
    **{"benchmark": "mmbench", "kind": "benchmark", "split": "test", "origin": "built"},
    **{"review_policy": "none", "created_at": "2026-03-02T09:14:55+00:00", "n_images": 0},
    "settings": json.dumps({"choice.items": {"seed": 1, "n_items": 2}}),
}
PASSES = {
    "good": {"easy": (1, 1), "hard": (1, 0)},
    "bad": {"easy": (1, 1), "hard": (0,)},
    "baseline:reference": {"easy": (1, 1), "hard": (1, 1)},
}
"""Model -> difficulty of an item -> whether each pass that is asked is right."""


def tables_of(release_id: str, keys: dict[str, str]) -> dict[str, list[Any]]:
    """A held-out release of two items that differ only in their references, in a group, and all that
    models did on them. `keys` has the key of each item; the item with key B is the harder one.
    """
    here = {"benchmark": "mmbench", "release_id": release_id}
    tables: dict[str, list[Any]] = {
        "release.releases": [{**here, **RELEASE, "name": release_id, "n_items": 2, "n_turns": 2}],
        "release.current": [{"name": release_id, "release_id": release_id}],
        "evaluate.scores": [
            {**here, "model": model, "judge": "rule", "judge_version": "letter@2", "place": 0}
            | {"metric": "Circular", "aggregation": "micro", "form": "floor", "value": 50.0}
            | {"subset_label": "", "subset_value": "", "n_turns": 2, "n_judged": 2}
            | dict.fromkeys(("n_failed", "n_truncated", "n_reasoning_only", "n_empty"), 0)
            for model in PASSES
        ],
    }
    for ordinal, (item_id, key) in enumerate(sorted(keys.items()), start=1):
        item = {**here, "item_id": item_id}
        by = {**item, "judge": "rule", "judge_version": "letter@2"}
        about = {"ordinal": ordinal, "group_id": "g", "labels": {"category": "ocr"}}
        difficulty = "hard" if key == "B" else "easy"
        rows: dict[str, list[Any]] = {
            "release.items": [{**item, **about}],
            "release.turns": [{**item, "turn": 1, "question": "Which?"}],
            "release.choices": [
                {**item, "position": place, "choice": text}
                for place, text in enumerate(("red", "blue"), start=1)
            ],
            "release.references": [{**item, "turn": 1, "kind": "key", "reference": key}],
            "evaluate.item_statistics": [
                {**by, "n_models": 2, "n_right": 1, "share_right": 0.5 + (key == "A") / 2}
                | {"discrimination": -0.5 if key == "B" else 0.0, "why": None}
                | {"flags": ["negative_discrimination"] if key == "B" else []}
            ],
            "evaluate.flagged_items": [
                {**by, "filter": "wrong_item", "right_models": [] if key == "B" else ["good"]}
                | {"wrong_models": ["bad"], "unknown_models": [], "answers": "[]"}
            ],
            **{name: [] for name in ("evaluate.answers", "evaluate.extractions")},
            "evaluate.observations": [],
        }
        for model, passes in PASSES.items():
            for shift, right in enumerate(passes[difficulty]):
                trial = {"model": model, "trial": f"shift-{shift}", "turn": 1}
                letter = key if right else "Z"
                rows["evaluate.answers"].append(
                    {**item, **trial, "status": "answered", "answer": f"It is {letter}."}
                )
                rows["evaluate.extractions"].append(
                    {**item, **trial, "extractor": "rule", "value": letter}
                )
                rows["evaluate.observations"].append(
                    {**by, **trial, "metric": "right", "status": "judged", "value": right}
                )
        given = {**item, "model": "good", "trial": "after the reference", "turn": 1}
        rows["evaluate.answers"].append({**given, "status": "given", "answer": key})
        for table, of_item in rows.items():
            tables.setdefault(table, []).extend(of_item)
    return tables


def published(home: Path, keys: dict[str, str]) -> dict[str, bytes]:
    """Every file of the reports of two such releases, without times, by its path."""
    warehouse, store = Warehouse(home / "warehouse.duckdb"), ImageStore(home / "images")
    folder = home / "reports"
    shutil.rmtree(folder, ignore_errors=True)
    earlier, later = (tables_of(f"mmbench-test-{n}", keys) for n in (1, 2))
    # One reference was changed since, and the seed of the choices.
    (changed,) = (row for row in later["release.references"] if row["reference"] == "B")
    changed["reference"] = "A"
    (card,) = later["release.releases"]
    card["settings"] = json.dumps({"choice.items": {"seed": 2, "n_items": 2}})
    put(warehouse, {table: earlier[table] + later[table] for table in earlier})
    with closing(Ledger(home / "ledger.sqlite")) as ledger:
        given = {"warehouse": warehouse, "image_store": store, "profile": PROFILE}
        given |= {"benchmarks": BENCHMARKS, "ledger": ledger}
        assert dg.materialize([reports, site], resources=given).success
    assert not warehouse.select("evaluate.not_made").num_rows
    comparison = compare_releases(warehouse, BENCHMARKS, "mmbench-test-1", "mmbench-test-2")
    write_page(warehouse, store, PROFILE, BENCHMARKS, comparison)
    for kind in ("csv", "json", "markdown"):
        export_results("mmbench-test-1", kind, None)
    return {
        path.relative_to(folder).as_posix(): TIME.sub(b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_exchanging_the_keys_of_two_items_changes_no_file_of_a_held_out_split(
    loom_home: Path,
) -> None:
    """What models did on the items is exchanged, too, so that all scores stay."""
    bring_home_up_to_date()
    files = published(loom_home, {"p": "A", "q": "B"})
    assert {name.partition("/")[0] for name in files} >= {"diff", "items", "results", "index.html"}
    assert published(loom_home, {"p": "B", "q": "A"}) == files
    assert not [name for name, content in files.items() if b"choice.items.seed" in content]
    # A comparison with an open release of the same items has no reference of either.
    warehouse, store = Warehouse(loom_home / "warehouse.duckdb"), ImageStore(loom_home / "images")
    for table, value in (
        ("releases", "if(name = 'mmbench-test-2', 'dev', split) AS split"),
        ("references", "'the secret ' || release_id AS reference"),
    ):
        rows = warehouse.sql(f"SELECT * REPLACE ({value}) FROM release.{table}")
        warehouse.replace(f"release.{table}", rows)
    for ids in permutations(("mmbench-test-1", "mmbench-test-2")):
        comparison = compare_releases(warehouse, BENCHMARKS, *ids)
        page = loom_home / write_page(warehouse, store, PROFILE, BENCHMARKS, comparison)
        assert "the secret" not in page.read_text()
