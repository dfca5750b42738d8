"""The evaluation's queries have one row for each value of a key, in an order.

Tables have one row for each combination of two values of each column of a key, the last one first.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from resources.warehouse import Warehouse
from tests.assets.filled import put

Row = dict[str, Any]


def rows_of(values: Mapping[str, Sequence[Any]], **same: Any) -> list[Row]:
    """One row for each combination of values, with what is the same or follows from them."""
    rows = []
    for of in product(*(sorted(each, reverse=True) for each in values.values())):
        row = dict(zip(values, of, strict=True))
        others = {name: each(row) if callable(each) else each for name, each in same.items()}
        rows.append({**row, **others})
    return rows


def later_for_trial_t(row: Row) -> str:
    """Trial `t` was judged under a later version than trial `s`."""
    return "w" if row["trial"] == "t" else "v"


ORDINALS = {"i": 2, "k": 1}
"""Item `k` is the first one."""
IMAGES = [letter * 64 for letter in "abc"]
OF_RELEASE, OF_ITEM = {"release_id": "rz"}, {"release_id": "rz", "item_id": "ik"}
OF_ANSWER = {**OF_ITEM, "model": "mn", "trial": "st", "turn": (1, 2)}
OF_STAGE = {"stage": ("answers", "judgments"), "asked": "jk"}
JUDGED = {**OF_ANSWER, "judge": "jk", "replicate": (0, 1), "part": "AB"}
OBSERVED = {**OF_ANSWER, "judge": ("j", "rule"), "judge_version": "vw", "replicate": (0, 1)}
OBSERVED |= {"metric": "EF", "part": "AB"}
CHANGED = {**OF_RELEASE, "judge": "jk", "judge_version": "vw", "model": "mn"}
CHANGED |= {"change": ("both given", "later turn"), "before_dimension": "de", "dimension": "de"}
CHANGED |= {"subset_label": "xy", "subset_value": "xy"}
ERROR = {"n_items": 1, "n_errors": 1, "n_gone": 1, "n_right": 0, "n_lost": 0, "p": 0.5}
ERROR |= {"gone_share": 1.0, "gone_low": 1.0, "gone_high": 1.0}
ERROR |= {"difference": 0.5, "ci_low": 0.5, "ci_high": 0.5}
RELEASE = {"kind": "benchmark", "origin": "built", "review_policy": "none", "n_items": 3}
HASHES = {"md5": "0" * 32, "phash": "0" * 16, "image_url": lambda row: row["image_id"]}
CALL = {"status": "lost", "via": "live", "created_at": datetime(2026, 3, 1, tzinfo=UTC)}

TABLES: dict[str, list[Row]] = {
    "release.releases": rows_of(OF_RELEASE, **RELEASE),
    "release.current": rows_of(OF_RELEASE, name=lambda row: row["release_id"]),
    "release.items": rows_of(OF_ITEM, ordinal=lambda row: ORDINALS[row["item_id"]]),
    # Release `r` has the first two images, and `z` the last two.
    "release.images": [
        {"release_id": release, "item_id": item, "position": n, "image_id": image}
        for release, images in (("r", IMAGES[:2]), ("z", IMAGES[1:]))
        for item in "ik"
        for n, image in enumerate(images, start=1)
    ],
    "ingest.images": rows_of({"wit_shard": "st", "image_id": IMAGES}, **HASHES),
    "evaluate.answers": rows_of(
        OF_ANSWER, status="answered", answer=lambda row: f"Turn {row['turn']}.", call_key="call"
    ),
    "evaluate.judgments": rows_of(
        JUDGED, judge_version=later_for_trial_t, answer_call_key="call", call_key="judged"
    ),
    "evaluate.observations": rows_of(OBSERVED, status="judged", value=1.0),
    "evaluate.failed": rows_of({**OF_ANSWER, **OF_STAGE, "reason": ("empty", "timeout")}),
    "evaluate.missing": rows_of({"release_id": "rsz", "model": "mn", **OF_STAGE}),
    "evaluate.findings": rows_of(
        {**OF_RELEASE, "other": "qr", "analysis": "ab", "place": (1, 2)},
        **{"subset_label": "", "subset_value": "", "value": 0.5},
        subject=lambda row: str(row["place"]),
    ),
    "evaluate.error_attribution": rows_of(CHANGED, **ERROR),
    "evaluate.item_statistics": rows_of(OF_ITEM, flags=["hard", "easy"], discrimination=0.5),
    "evaluate.flagged_items": rows_of(
        {**OF_ITEM, "filter": ("text_only", "wrong_item")}, answers="[]"
    ),
    "ledger.calls": rows_of(
        {"key": ("call", "judged"), "run": ("run-1", "run-2", "other")}, **CALL
    ),
}

COMPUTED: dict[str, Callable[[Row], Any]] = {
    "ordinal": lambda row: ORDINALS[row["item_id"]],
    "is_statistic": lambda row: row["answers"] is None,
}
R: Row = {"release_id": "r"}
FIRST, BOTH = {**R, "n_items": 2}, {**R, "item_ids": ["i", "k"]}
ORDERS: list[tuple[str, Row, str, int, int]] = [
    ("answer_texts_of", R, "model item_id trial turn", 16, 16),
    ("answered_items_of", R, "model ordinal", 4, 4),
    ("answered_releases", {}, "release_id", 2, 2),
    ("answering_models_of", R, "model", 2, 2),
    ("answers_of", BOTH, "model ordinal trial turn", 16, 16),
    ("answers_of_items", {**BOTH, "models": [*"mn"]}, "item_id model trial answer", 16, 16),
    ("asked_items", {}, "release_id model", 4, 4),
    ("call_keys_of", R, "model judge judge_version item_id trial turn", 64, 64),
    (
        "error_attribution_of",
        R,
        "judge judge_version change before_dimension dimension subset_label subset_value model",
        256,
        256,
    ),
    ("example_answers_of", FIRST, "ordinal turn model trial", 16, 16),
    # Repetitions are left out, and judges that are no rule.
    ("example_judgments_of", FIRST, "judge part", 4, 64),
    ("example_rules_of", FIRST, "part", 2, 64),
    ("failures_of", R, "model stage asked reason", 16, 16),
    # What is found of `r`, and what is found of `z` in comparison with `r`.
    ("findings_of", R, "analysis place", 4, 12),
    ("first_readings_of", R, "model item_id", 4, 4),
    ("flags_of", R, "ordinal is_statistic flag", 8, 8),
    ("image_sizes_of", R, "image_id", 2, 2),
    ("item_statistics_of", R, "ordinal", 2, 2),
    ("judged_models_of", R, "judge judge_version replicate model", 16, 16),
    ("judgments_of", BOTH, "judge judge_version replicate model", 16, 128),
    ("made_in_run", {"run": "run"}, "model judge release_id", 12, 12),
    ("missing_current", {}, "release_id model stage", 8, 16),
]
"""Queries, their parameters, the columns that order their rows, and the number of keys and of rows."""


@pytest.fixture
def warehouse(empty_warehouse: Warehouse) -> Warehouse:
    put(empty_warehouse, TABLES)
    return empty_warehouse


def test_rows_of_a_key_are_in_the_order_of_its_columns(warehouse: Warehouse) -> None:
    for name, params, columns, n_keys, n_rows in ORDERS:
        rows = warehouse.read(f"evaluate/{name}", params).to_pylist()
        keys = [
            tuple(row[each] if each in row else COMPUTED[each](row) for each in columns.split())
            for row in rows
        ]
        assert (name, len({*keys}), len(keys)) == (name, n_keys, n_rows)
        assert (name, keys) == (name, sorted(keys))
