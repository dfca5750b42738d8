"""Rows of tables that belong together, and queries put to them.

In a row of `rows_of` a text is the name of its column, and so is that of every other table's column
of this name: the rows of all tables belong together. `SPECIAL` has what may not have such a text.
"""

import hashlib
import random
import re
from datetime import UTC, datetime
from functools import cache
from typing import Any

import duckdb

from assets.common.tables import rows_to_arrow
from resources.warehouse import declared_columns, sql_text
from resources.warehouse.declarations import declared_tables, views_ddl
from tests.assets.filled import filled

Row = dict[str, Any]
Rows = dict[str, list[Row]]

IMAGE = "i" * 64
SHA = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("categories", "caption")}
TEXT_IDS = {
    f"{space}_text_id": SHA[text] for space, text in zip(("category", "caption"), SHA, strict=True)
}
TURNS = [{"question_id": "question_id", "question": "question", "answer": "answer"}]

READING = {"value": "reading", "call_key": "extractor_call_key"}
READING |= {"prompt_version": "extractor_prompt_version"}
SCORE: Row = {"place": 0, "subset_label": "", "subset_value": "", "ci_low": -9.0, "ci_high": 9.0}
SCORE |= {"n_turns": 99, "n_judged": 20, "n_failed": 2, "n_refused": 3, "n_truncated": 4}
SCORE |= {"n_reasoning_only": 5, "n_empty": 6, "n_clusters": 7, "n_items": 8, "seed": 9}
QUEUED = """{"question": "question", "answer": "answer", "reference": "reference",
"a": "answer", "b": "reference"}"""

SPECIAL: dict[str, list[Row]] = {
    "ingest.images": [{"md5": "m" * 32, "phash": "p" * 16}],
    "ingest.left_out": [{"step": "pages", "reason": "language"}],
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
    "quality.checks": [{"outcome": "review", "not_checked": None}],
    "review.queue": [{"kind": "dialogue", "content": '"made"'}],
    "review.approved": [{"kind": "dialogue", "status": "approved", "policy": "none"}],
    "review.agreement": [
        {"kind": "dialogue", "raters": "all", "measure": "raw", "reason": None}
        | {"low": 0.0, "high": 1.0}
    ],
    "review.decisions": [{"verdict": "edit"}],
    "release.releases": [{"origin": "imported", "review_policy": "none", "n_items": 2}],
    "release.items": [{"ordinal": 7}],
    "release.turns": [
        {"call_key": "question_call_key", "prompt_version": "question_prompt_version"}
    ],
    "release.references": [
        {"kind": "answer", "call_key": "reference_call_key"}
        | {"prompt_version": "reference_prompt_version"}
    ],
    "evaluate.answers": [
        {"status": "answered", "call_key": "answer_call_key", "settings": [("model", "served")]}
        | {"prompt_version": "answer_prompt_version"}
    ],
    "evaluate.extractions": [READING],
    "evaluate.second_readings": [{**READING, "reason": None}],
    "evaluate.failed": [{"stage": "answers", "call_key": "extractor_call_key"}],
    "evaluate.missing": [{"stage": "answers", "n_turns": 2}],
    "evaluate.judgments": [
        {"replicate": 0, "scores": [("dimension", 0.25)], "provider": "judge_provider"}
        | {"call_key": "judge_call_key", "prompt_version": "judge_prompt_version"}
    ],
    "evaluate.observations": [{"status": "judged", "replicate": 0, "call_key": "judge_call_key"}],
    "evaluate.scores": [
        {**SCORE, "form": "floor", "value": 0.5},
        {**SCORE, "form": "judged", "value": 0.44},
        {**SCORE, "form": "all_items", "value": 0.33, "n_items": 20},
    ],
    "evaluate.ranks": [{"rank": 13, "rank_low": 12, "rank_high": 14, "coverage": 0.9, "why": None}],
    "evaluate.comparisons": [
        {"form": "floor", "difference": 0.1, "ci_low": -0.2, "ci_high": 0.3, "n_units": 22}
    ],
    "evaluate.models": [{"access": "open", "parameters": 7.0, "reference_rank": 8}],
    "evaluate.findings": [
        {"subset_label": "", "subset_value": "", "ci_low": None, "ci_high": None}
    ],
    "evaluate.pairs": [{"status": "judged", "winner": "tie", "reason": None}],
    "evaluate.item_statistics": [{"flags": ["flag"], "n_models": 2, "why": None}],
    "evaluate.flagged_items": [{"filter": "wrong_item", "answers": "[]"}],
    "evaluate.archive": [{"model": "", "judge": "", "release_id": "", "state": "archived"}],
    "evaluate.score_queue": [{"item_id": "queue_id", "kind": "pair", "content": QUEUED}],
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
    **{name: name for name in ("release_id", "benchmark", "model", "language", "run")},
    **{"kind": "benchmark", "shard": "wit_shard", "credit": "none", "n_seed": 0},
    **{"n": 9, "n_each": 99, "n_rows": 99, "n_similarity": 0.95, "seen": r"\w"},
    **{"n_items": 9, "n_answers": 99, "n_categories": 99, "apart": ["apart"], "judges": ["judge"]},
    **{
        name: [text, *(f"{text} {number}" for number in range(1, 5))]
        for name, text in {
            **{"benchmarks": "benchmark", "entry_ids": "entry_id", "item_ids": "item_id"},
            **{"keys": "answer_call_key", "models": "model", "names": "name"},
            **{"orders": "part", "release_ids": "release_id", "shards": "wit_shard"},
        }.items()
    },
}
"""Parameters of queries. A list has the text of one row, and those of copies of it."""


PARAM = re.compile(r"\$(\w+)")


def text_of_query(name: str) -> str:
    """The text of a query, or one that lists a view."""
    return sql_text(name) if "/" in name else f"FROM {name}"


FROM = re.compile(r"(?:FROM|JOIN) (\w+\.\w+)")


@cache
def views() -> dict[str, str]:
    """The text of each view."""
    made = re.findall(r"VIEW (\w+\.\w+) AS(.*?);\n", re.sub("--.*", "", views_ddl()), re.DOTALL)
    return dict(made)


def reads(name: str) -> set[str]:
    """The tables and views that a query or a view reads, with those that its views read."""
    text = views().get(name) or re.sub("--.*", "", text_of_query(name))
    named = {*FROM.findall(text)} - {name}
    return named.union(*(reads(each) for each in named & views().keys()))


def write(tables: duckdb.DuckDBPyConnection, rows: Rows) -> None:
    """Replace the rows of some tables."""
    for table, of in rows.items():
        tables.execute(f"DELETE FROM {table}")
        if of:
            incoming = rows_to_arrow(table, [filled(table, row) for row in of])  # noqa: F841
            tables.execute(f"INSERT INTO {table} BY NAME FROM incoming")


def results(tables: duckdb.DuckDBPyConnection, name: str, rows: Rows, **params: Any) -> list[Row]:
    """The result of a query or a view after the rows of some tables have been replaced."""
    write(tables, rows)
    text = text_of_query(name)
    values = {each: {**PARAMS, **params}[each] for each in PARAM.findall(text)}
    return tables.sql(text, params=values).to_arrow_table().to_pylist()


def full(rows: Rows) -> Rows:
    """Rows that have what `rows` says and are else those of every table."""
    return {
        table: [{**rows_of(table)[0], **row} for row in of_table]
        for table, of_table in rows.items()
    }


def asked(tables: duckdb.DuckDBPyConnection, name: str, rows: Rows, **params: Any) -> list[Row]:
    """The result of a query for such rows. All other tables that it reads are empty."""
    empty: Rows = {table: [] for table in reads(name) & declared_tables().keys()}
    return results(tables, name, empty | full(rows), **params)


def picked(rows: list[Row], columns: str) -> list[tuple[Any, ...]]:
    """The values of these columns, which are named in one text."""
    return [tuple(row[column] for column in columns.split()) for row in rows]


def rows_with(columns: str, *values: tuple[Any, ...], **same: Any) -> list[Row]:
    """Rows with these values in these columns, and what all of them have."""
    return [{**same, **dict(zip(columns.split(), of, strict=True))} for of in values]
