"""Queries join rows by whole keys: a row that differs in one column of a key is of something else."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from resources.warehouse import Warehouse, sql_text
from tests.assets.filled import put

Row = dict[str, Any]

ITEM = {"release_id": "r", "item_id": "i", "ordinal": 1, "position": 1}
PLACE = {**ITEM, "model": "m", "trial": "plain", "turn": 1}
ANSWER = {**PLACE, "status": "answered", "answer": "A.", "call_key": "answer"}
PREDICTION = {**ANSWER, "model": "file:p", "call_key": None}
READING = {**PLACE, "extractor": "reader", "value": "A", "call_key": "reading"}
READING |= {"answer_call_key": "answer"}
READ_BY_RULE = {**PREDICTION, "extractor": "rule", "value": "B"}
JUDGMENT = {**PLACE, "judge": "j", "judge_version": "v", "replicate": 0, "part": "A"}
JUDGMENT |= {"answer_call_key": "answer", "scores": [("better", 1.0)], "status": "judged"}
JUDGMENT |= {"call_key": "judged"}
CALL = {"run": "run", "status": "lost", "via": "live", "created_at": datetime.now(UTC)}
SCORE = {"release_id": "r", "judge": "j", "judge_version": "v", "metric": "Overall"}
SCORE |= {"aggregation": "micro", "form": "floor", "subset_label": "", "n_turns": 9, "place": 0}
PAIR = {**PLACE, "judge": "j", "status": "judged", "winner": "tie"}
PAIR |= {"answer_a_call_key": "answer", "answer_b_call_key": "answer"}
JUDGED_PREDICTION = {**JUDGMENT, "model": "file:p", "part": "B", "answer_call_key": None}
JUDGED_PREDICTION |= {"scores": [("better", 0.5)]}
QUEUED = '{"question": "Q?", "a": "A.", "b": "R.", "answer": "A.", "reference": "R."}'

ROWS: dict[str, list[Row]] = {
    "release.items": [ITEM],
    "release.turns": [{**PLACE, "question": "Q?"}],
    "release.references": [{**PLACE, "kind": "answer", "reference": "R."}],
    "release.images": [ITEM],
    "evaluate.answers": [ANSWER, {**ANSWER, "model": "n"}, PREDICTION],
    "evaluate.extractions": [READING, READ_BY_RULE],
    "evaluate.second_readings": [READING],
    "evaluate.failed": [{**READING, "stage": "answers", "asked": "reader"}],
    "evaluate.judgments": [JUDGMENT, JUDGED_PREDICTION],
    "evaluate.observations": [{**JUDGMENT, "value": 7.0}],
    "evaluate.pairs": [
        {**PAIR, "model_a": "m", "model_b": "n"},
        {**PAIR, "model_a": "n", "model_b": "m"},
    ],
    "evaluate.flagged_items": [{**ITEM, "filter": "wrong_item", "answers": "[]"}],
    "evaluate.item_statistics": [
        {**ITEM, "flags": ["hard"], "n_models": 2, "n_right": 1, "discrimination": 0.5}
    ],
    "evaluate.score_queue": [{"item_id": "queued", "kind": "pair", "content": QUEUED}],
    "evaluate.scores": [{**SCORE, "model": model} for model in ("before", "after")],
    "evaluate.ranks": [{**SCORE, "model": "after", "why": "Too few.", "mark": "Partial."}],
    "evaluate.comparisons": [{**SCORE, "first": "after", "second": "before"}],
    "evaluate.models": [
        {"model": "before", "backbone": "b", "trained_on": []},
        {"model": "after", "backbone": "b", "trained_on": ["mmdu-45k"]},
    ],
    "ledger.calls": [{**CALL, "key": key} for key in ("answer", "judged")],
}
"""Rows that belong together, by table."""

OF_ITEM, OF_ANSWER = "release_id item_id", "release_id model item_id trial turn"
OF_SCORE = "release_id model judge judge_version metric aggregation"
KEYS = {
    "release.items": OF_ITEM,
    "release.turns": f"{OF_ITEM} turn",
    "release.references": f"{OF_ITEM} turn kind",
    "release.images": OF_ITEM,
    "evaluate.answers": OF_ANSWER,
    "evaluate.extractions": OF_ANSWER,
    "evaluate.second_readings": OF_ANSWER,
    "evaluate.failed": f"{OF_ANSWER} stage call_key",
    "evaluate.judgments": f"{OF_ANSWER} judge replicate part",
    "evaluate.item_statistics": OF_ITEM,
    "evaluate.scores": f"{OF_SCORE} form subset_label",
    "evaluate.ranks": OF_SCORE,
    "ledger.calls": "key run",
}
OTHER = {"kind": "caption", "form": "judged", "stage": "judgments"}
"""Another value of a column that may not have any."""
DIFFERING = {"reference": "another", "scores": [("better", 0.0)]}
"""What all rows of something else have, so that they show."""

R = {"release_id": "r"}
FIRST = {**R, "n_items": 9}
BOTH = {**R, "item_ids": ["i", "other i"]}
THESE, ANSWERS_TURN = {**R, "item_ids": ["i"]}, "evaluate.answers.trial evaluate.answers.turn"
QUERIES: list[tuple[str, Row, str]] = [
    ("evaluate/pairs_of", R, ""),
    ("evaluate/calls_behind", R, "evaluate.answers evaluate.judgments"),
    ("evaluate/flags_of", R, ""),
    ("evaluate/first_readings_of", R, "evaluate.answers"),
    ("evaluate/readings_of", R, ""),
    ("evaluate/example_answers_of", FIRST, "evaluate.answers stage call_key"),
    ("evaluate/extractions_of", BOTH, ""),
    ("evaluate/second_readings_of", R, ""),
    ("evaluate/observed_of", {**R, "models": ["m", "other m"]}, ""),
    ("evaluate/site_counts", R, "release.items release.turns.turn release.references.turn kind"),
    ("evaluate/queued_pairs", {"orders": ["A"]}, "judge replicate"),
    ("evaluate/judged_models_of", R, "judge replicate part"),
    ("evaluate/judged_scores", {}, "judge replicate part"),
    ("evaluate/call_keys_of", R, ""),
    ("evaluate/overall_of", R, "evaluate.scores"),
    ("evaluate/answering_models_of", R, "evaluate.answers"),
    ("evaluate/answered_items_of", R, "evaluate.answers"),
    ("evaluate/answers_of_items", {**THESE, "models": ["m", "file:p"]}, ANSWERS_TURN),
    ("evaluate/example_judgments_of", FIRST, "judge part"),
    ("evaluate/judgments_of", THESE, "judge replicate part"),
    ("evaluate/item_statistics_of", R, ""),
    ("evaluate/made_in_run", {"run": "run"}, "evaluate.answers evaluate.judgments"),
    ("evaluate.training_effects", R, ""),
    ("evaluate.provenance", R, ""),
]
"""Queries and views, their parameters, and the tables and columns of which they list every value."""


def tables_of(name: str) -> set[str]:
    """The tables of `ROWS` that a query or a view reads."""
    text = sql_text(name) if "/" in name else sql_text("evaluate/views")
    if "/" not in name:
        text = text.partition(f"VIEW {name} AS")[2].partition(";")[0]
    found = re.findall(r"(?:FROM|JOIN) (\w+\.\w+)", text)
    return {table.replace(".shown_", ".") for table in found} & ROWS.keys()


def result_of(warehouse: Warehouse, name: str, params: Row) -> list[Row]:
    if "/" in name:
        return warehouse.read(name, params).to_pylist()
    rows = warehouse.select(name).to_pylist()
    return [row for row in rows if row.get("release_id", row.get("release")) == "r"]


def others(table: str, column: str) -> list[Row]:
    """The rows of a table with another value in one column."""

    def other(value: Any) -> Any:
        return value + 10 if isinstance(value, int) else OTHER.get(column, f"other {value}")

    return [{**row, column: other(row.get(column))} for row in ROWS[table]]


NAMES = [name for name, _, _ in QUERIES]


@pytest.mark.parametrize(("name", "params", "listed"), QUERIES, ids=NAMES)
def test_a_row_that_differs_in_one_column_of_its_key_is_of_something_else(
    name: str, params: Row, listed: str, empty_warehouse: Warehouse
) -> None:
    rows = {table: ROWS[table] for table in tables_of(name)}
    put(empty_warehouse, rows)
    before = result_of(empty_warehouse, name, params)
    assert before != []
    all_of = {*listed.split()}
    for table in sorted(rows.keys() & KEYS.keys() - all_of):
        for column in KEYS[table].split():
            if {column, f"{table}.{column}"} & all_of:
                continue
            of_others = others(table, column)
            put(empty_warehouse, {table: of_others})
            assert result_of(empty_warehouse, name, params) != before, f"{table}.{column}"
            shown = [{**row, **DIFFERING} for row in of_others]
            put(empty_warehouse, {table: [*rows[table], *shown]})
            assert result_of(empty_warehouse, name, params) == before, f"{table}.{column}"
        put(empty_warehouse, {table: rows[table]})
    if "release_id" in params:
        # Another release has the same rows.
        of_both = {
            table: [*of, *({**row, "release_id": "other"} for row in of)]
            for table, of in rows.items()
            if "release_id" in of[0]
        }
        put(empty_warehouse, of_both)
        assert result_of(empty_warehouse, name, params) == before


REPLACED = {
    *("evaluate/pairs_of", "evaluate/calls_behind", "evaluate/first_readings_of"),
    *("evaluate/readings_of", "evaluate/example_answers_of", "evaluate/extractions_of"),
    *("evaluate/second_readings_of", "evaluate/judged_models_of", "evaluate/judged_scores"),
    *("evaluate/answers_of_items", "evaluate/example_judgments_of", "evaluate/judgments_of"),
}


@pytest.mark.parametrize("of", [each for each in QUERIES if each[0] in REPLACED])
def test_what_was_made_of_an_answer_that_has_been_replaced_is_in_no_result(
    of: tuple[str, Row, str], empty_warehouse: Warehouse
) -> None:
    name, params, _ = of
    later = [
        row if row["model"] == "n" else {**row, "call_key": "later"}
        for row in ROWS["evaluate.answers"]
    ]
    rows = {table: ROWS[table] for table in tables_of(name)}
    put(empty_warehouse, {**rows, "evaluate.answers": later})
    found = result_of(empty_warehouse, name, params)
    left = [row for row in found if row.get("role", "reader") == "reader"]
    assert [row for row in left if row.get("reading", row) is not None] == []


@pytest.mark.parametrize("of", [each for each in QUERIES if each[0] in REPLACED])
def test_a_prediction_has_no_call_and_what_was_made_of_it_counts(
    of: tuple[str, Row, str], empty_warehouse: Warehouse
) -> None:
    name, params, _ = of
    rows = {table: ROWS[table] for table in tables_of(name)}
    put(empty_warehouse, rows)
    before = result_of(empty_warehouse, name, params)
    for table in rows.keys() & {"evaluate.extractions", "evaluate.judgments"}:
        of_calls = [row for row in rows[table] if row["model"] != "file:p"]
        put(empty_warehouse, {table: of_calls})
        assert result_of(empty_warehouse, name, params) != before


def test_an_entry_takes_the_place_of_one_with_the_same_texts_in_its_language_alone(
    empty_warehouse: Warehouse,
) -> None:
    """`old` is in a group, and the others have its texts. Another model does not read English."""
    languages = {"old": "en", "same": "en", "german": "de"}
    entries = [
        {"entry_id": name, "page_id": name, "image_id": name, "language": language}
        for name, language in languages.items()
    ]
    measured = [
        {"model": "other", "language": "en", "is_read": False},
        {"model": "e", "language": "de", "is_read": True},
    ]
    put(empty_warehouse, {"ingest.entries": entries, "cluster.languages": measured})
    of_old = empty_warehouse.select("cluster.entry_texts", entry_id="old").to_pylist()
    texts = {f"{row['space']}_text_id": row["text_id"] for row in of_old}
    grouped = {"entry_id": "old", "group_id": "g", "group_how": "seed"}
    grouped |= {"cluster_id": "c", "cluster_how": "seed"}
    put(empty_warehouse, {"cluster.clusters": [{**grouped, **texts}]})
    rows = empty_warehouse.read("cluster/prior_memberships", {"model": "e"}).to_pylist()
    assert {row["entry_id"]: (row["language"], row["group_id"]) for row in rows} == {
        "german": ("de", None),
        "old": ("en", "g"),
        "same": ("en", "g"),
    }


def test_a_seed_and_its_rewrites_have_the_task_that_people_approved(
    empty_warehouse: Warehouse,
) -> None:
    """People changed the task of `seed` and rejected a rewrite of it; that of `other` awaits them."""
    decided = {
        "other": ("approved", ["ann"], "reference"),
        "other-task": ("pending", [], "category"),
        "seed": ("approved", ["ann"], "reference"),
        "seed-task": ("approved", ["bob", "ann"], "category"),
        "later": ("rejected", ["cat"], "rewrite"),
        "first": ("approved", ["cat"], "rewrite"),
    }
    items = [
        {"item_id": item_id, "status": status, "reviewers": reviewers, "kind": kind}
        | {"policy": "all", "content": '{"category": "Meme"}' if item_id == "seed-task" else "{}"}
        for item_id, (status, reviewers, kind) in decided.items()
    ]
    seeds = [
        {"seed_id": seed_id, "image_id": seed_id, "language": "en", "task": "Counting"}
        for seed_id in ("other", "seed")
    ]
    rewrites = [
        {"seed_id": "seed", "rewrite_id": rewrite_id, "ordinal": ordinal}
        for ordinal, rewrite_id in enumerate(("first", "later"), 1)
    ]
    made = {"rewrite.seeds": seeds, "rewrite.seed_rewrites": rewrites}
    put(empty_warehouse, {"review.approved": items, "review.queue": items, **made})
    rows = empty_warehouse.read("release/reviewed_seeds").to_pylist()
    columns = ("item_id", "task", "status", "reviewers")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        ("other", "Counting", "pending", ["ann"]),
        ("seed", "Meme", "approved", ["ann", "bob"]),
        ("first", "Meme", "approved", ["cat", "bob", "ann"]),
        ("later", "Meme", "rejected", ["cat", "bob", "ann"]),
    ]
