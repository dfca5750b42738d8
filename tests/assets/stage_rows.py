"""Rows of the stages' tables that belong together, and queries put to them."""

import hashlib
import random
import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import duckdb

from assets.common.tables import rows_to_arrow
from resources.warehouse import declared_columns, sql_text
from tests.assets.filled import filled

Row = dict[str, Any]
Rows = dict[str, list[Row]]

IMAGE = "i" * 64
SHA = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("categories", "caption")}
TEXT_IDS = {
    f"{space}_text_id": SHA[text] for space, text in zip(("category", "caption"), SHA, strict=True)
}
TURNS = [{"question_id": "question_id", "question": "question", "answer": "answer"}]

SPECIAL: dict[str, list[Row]] = {
    "ingest.images": [{"md5": "m" * 32, "phash": "p" * 16}],
    "cluster.clusters": [
        {"group_how": "seed", "cluster_how": "seed", "group_centre": "entry_id"}
        | {"cluster_centre": "entry_id", "nearest_group_id": None, "nearest_cluster_id": None}
    ],
    "cluster.communities": [
        {"community_id": f"{kind}_id", "kind": kind, "group_id": group_id, "min_size": 2}
        for kind, group_id in (("group", None), ("cluster", "group_id"))
    ],
    "cluster.embeddings": [
        {"text": text, "text_id": text_id, "vector": [1.0]} for text, text_id in SHA.items()
    ],
    "cluster.cohesion": [{"min_similarity": -0.5}],
    "cluster.near_pairs": [
        {"union_similarity": -0.5, "cluster_a": "cluster_id", "cluster_b": "other_cluster_id"}
    ],
    "cluster.splits": [{"split": "benchmark", "reason": "sampled"}],
    "dialogue.dialogues": [{"n_images": 2, "turns": TURNS}],
    "dialogue.three_turns": [{"turns": [{"question": "question", "task": "task"}] * 3}],
    "dialogue.turn_references": [{"kind": "answer"}],
    "rewrite.seeds": [{"language": "en"}],
    "rewrite.contexts": [
        {"language": "en", "task": "Coherence", "error": None}
        | {"turns": [{"question": "question", "answer": "answer"}] * 2}
    ],
    "choice.items": [{"answer": "A", "choices": ["a", "b"]}],
    "choice.translations": [{"translation_id": "item_id", "choices": ["a", "b"]}],
    "choice.mmiu_items": [
        {"answer": "A", "choices": ["a", "b"], "form": "text", "strategy": "shuffle all images"}
    ],
    "choice.mmiu_images": [{"source": None}],
    "quality.checks": [{"outcome": "review"}],
    "review.queue": [{"kind": "dialogue", "content": '"made"'}],
    "review.approved": [{"kind": "dialogue", "status": "approved", "policy": "none"}],
    "review.agreement": [
        {
            "kind": "dialogue",
            "raters": "all",
            "measure": "raw",
            "reason": None,
            "low": 0.0,
            "high": 1.0,
        }
    ],
    "review.decisions": [{"verdict": "edit"}],
    "release.releases": [{"origin": "imported", "review_policy": "none"}],
    "release.references": [{"kind": "answer"}],
    "ledger.calls": [{"status": "answered", "via": "live"}],
}
"""What rows have that may not have the name of the column as its text."""
ALIASES = {"centre_entry_id": "entry_id", "image_ids": [IMAGE], "made_from": [IMAGE]}
ALIASES |= {"image_id": IMAGE, "kind": "benchmark", **TEXT_IDS, "of_item": "item_id"}
NUMBERS = {"INTEGER": 1, "BIGINT": 1, "BOOLEAN": True, "JSON": "{}"}
NUMBERS |= {"TIMESTAMP WITH TIME ZONE": datetime(2026, 1, 1, tzinfo=UTC)}


def text_of(column: str, kind: str) -> Any:
    """The value of a column: its name, or a number."""
    if column in ALIASES:
        return ALIASES[column]
    if kind.startswith(("MAP", "STRUCT")):
        return []
    if kind == "VARCHAR[]":
        return [column]
    if kind in ("DOUBLE", "FLOAT"):
        return random.Random(column).randrange(64) / 64
    return [1] if kind.endswith("[]") else NUMBERS.get(kind, column)


@cache
def rows_of(table: str) -> list[Row]:
    """The rows of a table, which belong together with those of the others."""
    base = {name: text_of(name, kind) for name, kind, _ in declared_columns()[table]}
    return [{**base, **special} for special in SPECIAL.get(table, [{}])]


PARAMS: Row = {
    **{name: name for name in ("release_id", "benchmark", "model", "language")},
    **{"kind": "benchmark", "shard": "wit_shard", "shards": ["wit_shard"], "names": ["name"]},
    **{"benchmarks": ["benchmark"], "release_ids": ["release_id"], "credit": "none"},
    **{"n": 9, "n_each": 99, "n_rows": 99, "n_similarity": 0.95, "seen": r"\w"},
    "entry_ids": ["entry_id", *(f"entry_id {number}" for number in range(9))],
}


def results(tables: duckdb.DuckDBPyConnection, name: str, rows: Rows, **params: Any) -> list[Row]:
    """The result of a query after the rows of some tables have been replaced."""
    for table, of in rows.items():
        incoming = rows_to_arrow(table, [filled(table, row) for row in of])  # noqa: F841
        tables.execute(f"DELETE FROM {table}")
        tables.execute(f"INSERT INTO {table} BY NAME FROM incoming")
    text = sql_text(name)
    values = {each: {**PARAMS, **params}[each] for each in re.findall(r"\$(\w+)", text)}
    return tables.sql(text, params=values).to_arrow_table().to_pylist()


def asked(tables: duckdb.DuckDBPyConnection, name: str, rows: Rows, **params: Any) -> list[Row]:
    """The result of a query for rows that have what `rows` says and are else those of every table."""
    base = {table: rows_of(table)[0] for table in rows}
    full = {table: [{**base[table], **row} for row in of] for table, of in rows.items()}
    return results(tables, name, full, **params)
