"""Queries join rows by whole keys: a row that differs in one column of a key is of something else."""

import hashlib
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
QUEUED = {"item_id": "queued", "kind": "pair"}
QUEUED |= {"content": '{"question": "Q?", "a": "A.", "b": "R."}'}
LINE = {"wit_shard": "shard", "page_url": "page", "image_url": "image"}
TEXT_ID = hashlib.sha256(b"text").hexdigest()
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
    Query(
        "evaluate/example_answers_of",
        {
            "evaluate.answers": [ANSWER],
            "release.items": [IN_RELEASE],
            "evaluate.extractions": [READING],
            "evaluate.failed": [FAILURE],
        },
        {
            "release.items": "release_id item_id",
            "evaluate.extractions": PLACE_KEY,
            "evaluate.failed": PLACE_KEY,
        },
        {"release_id": "r", "n_items": 9},
        {"reason": "timeout"},
    ),
    Query(
        "evaluate/example_judgments_of",
        {
            "evaluate.answers": [ANSWER],
            "release.items": [IN_RELEASE],
            "evaluate.judgments": [JUDGMENT],
        },
        {"release.items": "release_id item_id", "evaluate.judgments": f"{PLACE_KEY} replicate"},
        {"release_id": "r", "n_items": 9},
    ),
    Query(
        "evaluate/extractions_of",
        {"evaluate.answers": [ANSWER], "evaluate.extractions": [READING]},
        {"evaluate.answers": PLACE_KEY, "evaluate.extractions": PLACE_KEY},
        {"release_id": "r", "item_ids": ["i", "other i"]},
    ),
    Query(
        "evaluate/second_readings_of",
        {"evaluate.answers": [ANSWER], "evaluate.second_readings": [READING]},
        {"evaluate.answers": PLACE_KEY, "evaluate.second_readings": PLACE_KEY},
    ),
    Query(
        "evaluate/observed_of",
        {
            "evaluate.answers": [ANSWER],
            "evaluate.observations": [{**JUDGMENT, "status": "judged", "value": 7.0}],
            "evaluate.judgments": [JUDGMENT],
        },
        {
            "evaluate.answers": PLACE_KEY,
            "evaluate.judgments": f"{PLACE_KEY} judge replicate part",
        },
        {"release_id": "r", "models": ["m"]},
    ),
    Query(
        "FROM evaluate.provenance WHERE release = $release_id",
        {
            "evaluate.observations": [{**JUDGMENT, "status": "judged", "value": 7.0}],
            "evaluate.answers": [ANSWER],
            "evaluate.judgments": [JUDGMENT],
            "evaluate.extractions": [READING],
            "release.items": [IN_RELEASE],
            "release.turns": [IN_RELEASE],
            "release.references": [{**IN_RELEASE, "kind": "key"}],
            "release.images": [IN_RELEASE],
        },
        {
            "evaluate.judgments": f"{PLACE_KEY} judge replicate part",
            "evaluate.extractions": PLACE_KEY,
            "release.items": "release_id item_id",
            "release.turns": "release_id item_id turn",
            "release.references": "release_id item_id turn kind",
            "release.images": "release_id item_id",
        },
        differing={"reference": "another"},
    ),
    Query(
        "evaluate/site_counts",
        {
            "release.items": [IN_RELEASE],
            "release.turns": [IN_RELEASE],
            "release.references": [IN_RELEASE],
            "release.images": [IN_RELEASE],
        },
        dict.fromkeys(
            ("release.turns", "release.references", "release.images"), "release_id item_id"
        ),
    ),
    Query(
        "evaluate/queued_pairs",
        {
            "evaluate.score_queue": [QUEUED],
            "evaluate.answers": [ANSWER],
            "evaluate.judgments": [{**JUDGMENT, "part": "A", "scores": [("better", 1.0)]}],
            "release.turns": [{**IN_RELEASE, "question": "Q?"}],
            "release.references": [{**IN_RELEASE, "reference": "R."}],
        },
        {
            "evaluate.judgments": f"{PLACE_KEY} part",
            "release.turns": "release_id item_id turn",
            "release.references": "release_id item_id turn kind",
        },
        {"orders": ["A"]},
    ),
    Query(
        "cluster/cluster_centres",
        {
            "cluster.communities": [
                {"community_id": "c", "kind": "cluster", "group_id": "g", "model": "e"}
                | {"caption_text_id": TEXT_ID, "centre_entry_id": "entry", "min_size": 2}
            ],
            "cluster.embeddings": [
                {"text_id": TEXT_ID, "model": "e", "text": "text", "vector": [1.0]}
            ],
            "ingest.entries": [{"entry_id": "entry", "title": "Boat"}],
        },
        {"cluster.embeddings": "model", "ingest.entries": "entry_id"},
        {},
        {"title": "A boat", "vector": [0.5]},
    ),
    Query(
        "ingest/image_urls_of_shards",
        {
            "ingest.wit_rows": [
                {**LINE, "line_number": number, "mime_type": f"image/{number}"} for number in (2, 1)
            ],
            "ingest.pages": [LINE],
        },
        {"ingest.pages": "wit_shard page_url", "ingest.wit_rows": "wit_shard page_url"},
        {"shards": ["shard"]},
        {"page_id": "another"},
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
