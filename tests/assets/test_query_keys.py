"""Queries join rows by whole keys: a row that differs in one column of a key is of something else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from resources.warehouse import Warehouse
from tests.assets.filled import put

Row = dict[str, Any]

ITEM = {"release_id": "r", "item_id": "i"}
PLACE = {**ITEM, "model": "m", "trial": "plain", "turn": 1}
PLACE_KEY = "release_id model item_id trial turn"
ANSWER = {**PLACE, "status": "answered", "answer": "A.", "call_key": "answer"}
READING = {**PLACE, "extractor": "reader", "value": "A", "call_key": "reading"}
READING |= {"answer_call_key": "answer"}
JUDGMENT = {**PLACE, "judge": "j", "judge_version": "v", "replicate": 0, "part": "answer"}
JUDGMENT |= {"answer_call_key": "answer", "call_key": "judgment"}
FAILURE = {**PLACE, "stage": "answers", "asked": "m", "reason": "no_letter", "call_key": "reading"}
IN_RELEASE = {**ITEM, "ordinal": 1, "position": 1, "turn": 1, "kind": "answer"}
SCORE = {"release_id": "r", "judge": "j", "judge_version": "v", "metric": "Overall"}
SCORE |= {"aggregation": "micro", "form": "floor", "subset_label": "", "n_turns": 9, "place": 0}
SCORE_KEY = "release_id model judge judge_version metric aggregation"
QUEUED = {"item_id": "queued", "content": '{"question": "Q?", "answer": "A.", "reference": "R."}'}
OTHER = {"kind": "caption", "form": "judged", "stage": "judgments"}
"""Another value of columns that may not have any."""


@dataclass(frozen=True)
class Query:
    """A query of `sql/`, or the text of one, and rows by table that belong together.

    `keys` are columns by table. `differing` are values that all other rows have, so that they show.
    """

    name: str
    rows: Mapping[str, Sequence[Row]]
    keys: Mapping[str, str] = field(default_factory=dict)
    params: Row = field(default_factory=lambda: {"release_id": "r"})
    differing: Row = field(default_factory=dict)

    def result(self, warehouse: Warehouse) -> list[Row]:
        read = warehouse.sql if " " in self.name else warehouse.read
        return read(self.name, self.params).to_pylist()

    def others(self, table: str, column: str) -> list[Row]:
        """The rows of a table with another value in one column."""
        return [
            {**row, **self.differing, column: other(column, row.get(column))}
            for row in self.rows[table]
        ]


def other(column: str, value: Any) -> Any:
    return value + 10 if isinstance(value, int) else OTHER.get(column, f"other {value}")


QUERIES = [
    Query(
        "evaluate/pairs_of",
        {
            "evaluate.pairs": [
                {**PLACE, "judge": "j", "model_a": "m", "model_b": "n", "status": "judged"}
                | {"winner": "tie", "answer_a_call_key": "answer", "answer_b_call_key": "answer"}
            ],
            "release.items": [IN_RELEASE],
            "evaluate.answers": [ANSWER, {**ANSWER, "model": "n"}],
        },
        {"evaluate.answers": PLACE_KEY, "release.items": "release_id item_id"},
    ),
    Query(
        "evaluate/calls_behind",
        {
            "evaluate.answers": [ANSWER],
            "evaluate.extractions": [READING],
            "evaluate.judgments": [JUDGMENT],
        },
        {"evaluate.extractions": PLACE_KEY, "evaluate.judgments": "release_id"},
    ),
    Query(
        "evaluate/flags_of",
        {
            "evaluate.flagged_items": [{**ITEM, "filter": "wrong_item", "answers": "[]"}],
            "evaluate.item_statistics": [
                {**ITEM, "flags": ["hard"], "n_models": 2, "n_right": 1, "discrimination": 0.5}
            ],
            "release.items": [IN_RELEASE],
        },
        {"release.items": "release_id item_id"},
    ),
    Query(
        # A file of predictions: no answer has a call.
        "evaluate/first_readings_of",
        {
            "evaluate.answers": [
                {**ANSWER, "trial": trial, "call_key": None} for trial in ("shift-0", "shift-1")
            ],
            "evaluate.extractions": [
                {**PLACE, "extractor": "rule", "trial": trial, "value": value}
                for trial, value in (("shift-0", "A"), ("shift-1", "B"))
            ],
        },
        {"evaluate.extractions": PLACE_KEY},
    ),
    Query(
        "evaluate/readings_of",
        {
            "evaluate.answers": [ANSWER],
            "evaluate.extractions": [READING],
            "evaluate.failed": [FAILURE],
        },
        {
            "evaluate.answers": PLACE_KEY,
            "evaluate.extractions": PLACE_KEY,
            "evaluate.failed": f"{PLACE_KEY} stage call_key",
        },
    ),
    Query(
        "FROM evaluate.training_effects WHERE release_id = $release_id",
        {
            "evaluate.comparisons": [
                {**SCORE, "first": "after", "second": "before", "n_clusters": 9}
            ],
            "evaluate.scores": [
                {**SCORE, "model": model, "value": 5.0, "ci_low": 1.0, "ci_high": 9.0}
                for model in ("before", "after")
            ],
            "evaluate.models": [
                {"model": model, "backbone": "b", "trained_on": trained_on}
                for model, trained_on in (("before", []), ("after", ["mmdu-45k"]))
            ],
        },
        {"evaluate.scores": f"{SCORE_KEY} form subset_label"},
    ),
]


@pytest.mark.parametrize("query", QUERIES, ids=[query.name for query in QUERIES])
def test_a_row_that_differs_in_one_column_of_its_key_changes_no_result(
    query: Query, empty_warehouse: Warehouse
) -> None:
    put(empty_warehouse, query.rows)
    before = query.result(empty_warehouse)
    assert before != []
    for table, columns in query.keys.items():
        for column in columns.split():
            put(empty_warehouse, {table: [*query.rows[table], *query.others(table, column)]})
            assert query.result(empty_warehouse) == before, f"{table}.{column}"
        put(empty_warehouse, {table: query.rows[table]})
    if "release_id" in query.params:
        # Another release has the same rows.
        of_both = {
            table: [*rows, *({**row, "release_id": "other"} for row in rows)]
            for table, rows in query.rows.items()
            if "release_id" in rows[0]
        }
        put(empty_warehouse, of_both)
        assert query.result(empty_warehouse) == before


ON_ANSWERS = [
    query
    for query in QUERIES
    if query.name
    in (
        "evaluate/pairs_of",
        "evaluate/calls_behind",
        "evaluate/first_readings_of",
        "evaluate/readings_of",
    )
]


@pytest.mark.parametrize("query", ON_ANSWERS, ids=[query.name for query in ON_ANSWERS])
def test_what_was_made_of_an_answer_that_has_been_replaced_is_in_no_result(
    query: Query, empty_warehouse: Warehouse
) -> None:
    answers = [{**row, "call_key": "later"} for row in query.rows["evaluate.answers"]]
    put(empty_warehouse, {**query.rows, "evaluate.answers": answers})
    left = [row for row in query.result(empty_warehouse) if row.get("role", "reader") == "reader"]
    assert [row for row in left if row.get("reading", row) is not None] == []
