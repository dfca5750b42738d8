"""Queries of the stages before the evaluation: what they join, filter and sort by."""

import hashlib
import random
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import duckdb
import pytest

from assets.common.tables import rows_to_arrow
from resources.warehouse import declared_columns, sql_text
from resources.warehouse.declarations import schema_ddl, views_ddl
from resources.warehouse.staging import tables_with_rules
from tests.assets.filled import filled

Row = dict[str, Any]
Rows = dict[str, list[Row]]

IMAGE = "i" * 64
SHA = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("categories", "caption")}
TEXT_IDS = {
    f"{space}_text_id": SHA[text] for space, text in zip(("category", "caption"), SHA, strict=True)
}
TURNS = [{"question_id": "question_id", "question": "question", "answer": "answer"}]
FIRST = {"position": 1}

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


class Query(NamedTuple):
    """A query and what it does with rows."""

    name: str
    order: str
    """The columns that its rows are sorted by."""
    matching: str
    """Columns that rows have to have in common, or in which a filter asks for a value."""
    optional: str
    """Tables without which there are the same rows."""


QUERIES = [
    Query(*(part.strip() for part in line.split("|")))
    for line in """
release/all | name | current.name current.release_id | current
release/approved_dialogues | item_id | item_id status kind set_id |
release/built_splits | item_id | benchmark origin split release_id |
release/choices_of | item_id position | release_id item_id |
release/images_of | item_id position | release_id item_id |
release/turns_of | item_id turn | release_id item_id |
release/references_of | item_id turn kind | release_id item_id |
release/items_of | item_id | release_id |
release/current | name | release_id |
release/current_of | name | release_id benchmark |
release/export_agreement | kind dimension | kind release_id item_id raters value |
release/export_licences | licences | release_id images.item_id | images
release/imported_images | image_id | release_id origin releases.kind |
release/imported_pages | page_id | release_id page_url origin releases.kind |
release/items_by_kind | kind | release_id |
release/named |  | release_id |
release/origins |  | question_id |
release/picture_sources | image_id |  | seeds contexts three_turns
release/reviewed_choices | item_id | item_id entries.entry_id approved.kind set_id | entries
release/reviewed_mmiu | item_id | item_id kind |
release/reviewed_three_turns | item_id | item_id |
release/reviewed_translations | language item_id | item_id approved.kind set_id |
release/sources |  | entry_id | dialogues
cluster/captions_of_languages | language |  |
cluster/categories | -n_entries category |  |
cluster/cluster_centres | cluster_id | text_id model | entries
cluster/cluster_members | cluster_id entry_id |  |
cluster/cluster_sizes |  | page_id image_id entry_id split |
cluster/communities | kind | text_id embeddings.model | embeddings
cluster/first_embeddings | entry_id space | text_id model |
cluster/image_hashes | image_id |  |
cluster/known_texts |  | text_id model |
cluster/largest_communities | -kind -n_members community_id | text_id model |
cluster/largest_groups | -size group_id | entries.entry_id | entries
cluster/left_out_of_benchmarks | reason | page_id image_id |
cluster/loose | mean_similarity cluster_id |  |
cluster/loosest | mean_similarity cluster_id | entries.entry_id | communities entries
cluster/map_points | x | entry_id text_id model cohesion.cluster_id | communities cohesion embeddings
cluster/members | cluster_id entry_id | page_id image_id entry_id split | duplicates
cluster/nearest_pairs | -similarity cluster_a cluster_b | entries.entry_id | entries communities
cluster/page_images | page_id image_id | clusters.entry_id | duplicates clusters pages
cluster/prior_memberships | entry_id | languages.language languages.model | clusters languages
cluster/prior_sets | set_id | kind |
cluster/sets_across_splits | kind | image_sets.entry_id page_id |
cluster/sets_by_kind | kind |  |
cluster/text_ids | entry_id |  |
cluster/unreadable_languages | -n language | language model is_read |
cluster/vectors |  | text_id model |
review/queue | kind item_id |  | checks
ingest/entry_sources_of_shards | wit_shard line_number | wit_shard page_url image_url |
ingest/image_urls_of_shards | wit_shard image_url | wit_shard page_url |
ingest/shards_read | wit_shard |  |
ingest/shard |  | wit_shard |
ingest/without_licence | wit_shard |  |
dialogue/entry_texts | entry_id | entry_id | summaries
dialogue/pictures | entry_id | page_id image_id split | duplicates
dialogue/questions | set_id ordinal | answers.question_id | answers
dialogue/sets | set_id position | summaries.set_id entries.entry_id image_sets.entry_id | summaries
dialogue/shape | kind | questions.question_id |
dialogue/turn_tasks | turn name |  |
rewrite/candidates | task entry_id | entry_id | summaries
rewrite/first_questions | dialogue_id | set_id position entry_id |
rewrite/near_groups | image_id | distance |
rewrite/pictured | entry_id | page_id image_id split | images
rewrite/released_images | name image_id | name images.release_id | images
choice/entries | entry_id | page_id image_id entry_id split summaries.set_id | summaries
choice/items | item_id | language entry_id |
choice/mmiu_subjects | entry_id | page_id image_id entry_id split |
quality/dialogues | set_id dialogue_id | entries.entry_id image_sets.entry_id |
quality/found | dialogue_id turn | questions.question_id | questions
""".strip().splitlines()
]
UNMATCHED = {"clusters.page_id", "clusters.image_id", "image_sets.image_id", "queue.kind"}
UNMATCHED |= {"queue.set_id", "items.set_id", "translations.set_id"}
"""Columns that no query joins by."""
PARAMS: Row = {
    **{name: name for name in ("release_id", "benchmark", "model", "language")},
    **{"kind": "benchmark", "shard": "wit_shard", "shards": ["wit_shard"], "names": ["name"]},
    **{"benchmarks": ["benchmark"], "release_ids": ["release_id"], "credit": "none"},
    **{"n": 9, "n_each": 99, "n_rows": 99, "n_similarity": 0.95, "seen": r"\w"},
    "entry_ids": ["entry_id", *(f"entry_id {number}" for number in range(9))],
}
KINDS = {"choices": "multiple_choice", "mmiu": "multiple_choice", "translations": "translation"}
CHANGES: dict[str, dict[str, Row]] = {
    **{f"release/reviewed_{of}": {"review.approved": {"kind": kind}} for of, kind in KINDS.items()},
    "release/built_splits": {"release.releases": {"origin": "built"}},
    "cluster/left_out_of_benchmarks": {"cluster.splits": {"split": "instruction"}},
    "cluster/sets_across_splits": {"cluster.splits": {"split": "instruction"}},
    "cluster/unreadable_languages": {"cluster.languages": {"is_read": False}},
}
"""What rows have for one query alone."""
N_ROWS = dict.fromkeys(("cluster/communities", "cluster/largest_communities"), 2)
N_ROWS |= {"cluster/vectors": 2, "cluster/first_embeddings": 2, "dialogue/turn_tasks": 3}
RENAMED = {"cluster/left_out_of_benchmarks", "cluster/text_ids"}
BY_NAME = pytest.mark.parametrize("query", QUERIES, ids=[query.name for query in QUERIES])

OTHER = {
    "benchmark": "instruction",
    "answer": "caption",
    "approved": "pending",
    "imported": "built",
}
OTHER |= {"built": "imported", "all": "a|b", "instruction": "benchmark", "model": "another"}
OTHER |= {kind: "reference" for kind in ("dialogue", "multiple_choice", "translation")}
FROM = re.compile(r"(?:FROM|JOIN) (\w+\.\w+)")
VIEWS = {
    "cluster.entry_texts": ["ingest.entries"],
    "cluster.entry_splits": ["ingest.entries", "cluster.splits"],
    "dialogue.dialogue_images": ["dialogue.dialogues", "cluster.image_sets"],
}


def tables_of(query: Query) -> list[str]:
    """The tables that a query reads, with those that its views read."""
    named = FROM.findall(re.sub("--.*", "", sql_text(query.name)))
    tables = {table for name in named for table in VIEWS.get(name, [name])}
    return sorted(tables & declared_columns().keys())


def world_of(query: Query) -> Rows:
    """Rows for each table that a query reads, which belong together."""
    return {
        table: [{**row, **CHANGES.get(query.name, {}).get(table, {})} for row in rows_of(table)]
        for table in tables_of(query)
    }


@pytest.fixture(scope="module")
def tables() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables and views of the warehouse, in memory."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        connection.execute(schema_ddl() + views_ddl())
        yield connection


def results(
    tables: duckdb.DuckDBPyConnection, query: Query, rows: Rows, **params: Any
) -> list[Row]:
    """The result after the rows of some tables have been replaced."""
    for table, of in rows.items():
        incoming = rows_to_arrow(table, [filled(table, row) for row in of])  # noqa: F841
        tables.execute(f"DELETE FROM {table}")
        tables.execute(f"INSERT INTO {table} BY NAME FROM incoming")
    text = sql_text(query.name)
    values = {name: {**PARAMS, **params}[name] for name in re.findall(r"\$(\w+)", text)}
    found = tables.sql(text, params=values).to_arrow_table().to_pylist()
    return found if query.order else sorted(found, key=repr)


@BY_NAME
def test_only_what_may_be_missing_is_missed_by_no_row(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    n_rows = len(results(tables, query, world))
    assert n_rows == N_ROWS.get(query.name, 1)
    for table, rows in world.items():
        left = len(results(tables, query, {table: []}))
        assert left == (n_rows if table.partition(".")[2] in query.optional.split() else 0), table
        results(tables, query, {table: rows})


ABSENT = {
    "value": {"value": None, "reason": "too few"},
    "split": {"split": None, "reason": "bridges_splits"},
    "distance": {"distance": None},
    "text_id": {"text": "another", "text_id": hashlib.sha256(b"another").hexdigest()},
}
"""What a row has that a filter leaves out."""


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 10
    return "a" * 64 if value == IMAGE else OTHER.get(value, f"other {value}")


def others(rows: list[Row], column: str) -> list[Row]:
    """The rows with another value in a column."""
    rows = rows[:1] if column == "text_id" else rows
    return [{**row, **(ABSENT.get(column) or {column: other(row[column])})} for row in rows]


@BY_NAME
def test_rows_of_something_else_are_as_none(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    before = results(tables, query, world)
    for table, rows in world.items():
        without = results(tables, query, {table: []})
        for column in rows[0]:
            full = f"{table.partition('.')[2]}.{column}"
            if full in UNMATCHED or not {column, full} & {*query.matching.split()}:
                continue
            else_ = others(rows, column)
            assert results(tables, query, {table: else_}) == without, full
            if all(column in key for key in tables_with_rules()[table].keys):
                added = {table: [*else_, *rows]}
                assert results(tables, query, added) == before, full
        results(tables, query, {table: rows})
    for column in {"release_id", "wit_shard", "model"} & {*query.matching.split()}:
        # All rows are there once more, for another release, shard or model.
        twice = {
            table: [*others(rows, column), *rows]
            for table, rows in world.items()
            if column in rows[0] and all(column in key for key in tables_with_rules()[table].keys)
        }
        assert results(tables, query, twice) == before, column


@BY_NAME
def test_a_column_has_values_of_columns_of_its_name(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    (*_, row) = results(tables, query, world)
    for column, value in row.items():
        known = [of[column] for rows in world.values() for of in rows if column in of]
        if column in ("content", "generated") and "review.approved" in world:
            known = ["{}" if column == "content" else '"made"']
        if isinstance(value, str | float) and known and query.name not in RENAMED:
            assert value in known, column


N_COPIES = 9
SHARED = {"set_id", "page_id", "cluster_id", "group_id", "dialogue_id", "language", "name"}
SHARED |= {
    "task",
    "turn",
    "n_members",
    "mean_similarity",
    "similarity",
    "dimension",
    "wit_shard",
    "release_id",
    "page_url",
    "item_id",
}
"""What several rows have in common."""


@cache
def places(text: str) -> list[int]:
    """The place of each copy in the order of one column."""
    each = [number // 3 for number in range(N_COPIES)] if text in SHARED else [*range(N_COPIES)]
    return random.Random(text).sample(each, N_COPIES)


def numbered(column: str, value: Any, copy: int, fixed: set[str]) -> Any:
    """The value of a column in one of the copies; the same in each table."""
    if column in fixed or (isinstance(value, str) and value in fixed):
        return value
    if isinstance(value, list):
        return [numbered(column, each, copy, fixed) for each in value]
    if isinstance(value, dict):
        return {name: numbered(name, each, copy, fixed) for name, each in value.items()}
    if column in ("ordinal", "place", "position", "line_number", "turn", "n_members"):
        return places("item_id" if column == "ordinal" else column)[copy] + 1
    if column in ("x", "similarity", "mean_similarity"):
        return places("place" if column == "x" else column)[copy] / 10
    if value == IMAGE:
        return f"{places(value)[copy]}{IMAGE[1:]}"
    for text, text_id in SHA.items():
        if value == text_id:
            return hashlib.sha256(numbered("text", text, copy, fixed).encode()).hexdigest()
    is_name = isinstance(value, str) and (value in (column, *SHA) or value.endswith("_id"))
    return f"{value} {places(value)[copy]}" if is_name else value


def copies(table: str, rows: list[Row], fixed: set[Any]) -> list[Row]:
    """Copies of rows whose columns are in different orders, without two of one key."""
    made = [
        {name: numbered(name, value, copy, fixed) for name, value in row.items()}
        for copy in range(N_COPIES)
        for row in rows
    ]
    for key in tables_with_rules()[table].keys:
        made = list({tuple(str(row[name]) for name in key): row for row in made}.values())
    return made


@pytest.mark.parametrize("query", [query for query in QUERIES if query.order])
def test_rows_are_sorted_however_they_were_written(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    fixed = {"position"} & {*query.matching.split()}
    for name in re.findall(r"\$(\w+)", sql_text(query.name)):
        # Of one entry or another all copies are asked for.
        if name not in ("entry_ids", "n"):
            value = PARAMS[name]
            fixed |= {*map(str, value)} if isinstance(value, list) else {str(value)}
    rows = {table: copies(table, of, fixed) for table, of in world_of(query).items()}
    found = results(tables, query, rows)
    assert len(found) > 1 or query.order in ("kind", "reason", "kind dimension")
    by = [column.removeprefix("-") for column in query.order.split()]
    expected = [*found]
    for column in reversed(query.order.split()):
        expected.sort(key=lambda row: row[column.removeprefix("-")], reverse=column[0] == "-")
    assert [[row[name] for name in by] for row in found] == [
        [row[name] for name in by] for row in expected
    ]


FIRST = {"choice/mmiu_subjects", "dialogue/entry_texts", "quality/dialogues", "rewrite/candidates"}
FIRST |= {"rewrite/pictured", "cluster/map_points", "cluster/text_ids", "cluster/vectors"}
LICENSED = {"release/picture_sources", "release/sources"}
OF_ENTRIES = [query for query in QUERIES if "ingest.entries" in tables_of(query)]


@pytest.mark.parametrize("query", OF_ENTRIES)
def test_an_entry_of_two_shards_counts_once(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    before = results(tables, query, world)
    (entry,) = world["ingest.entries"]
    if query.name == "ingest/without_licence":
        return
    again = {**entry, "wit_shard": "z"}
    unlike = {"title": "another", "caption": "another", "licence": None, "categories": []}
    if query.name in FIRST | LICENSED:
        again |= unlike
    assert results(tables, query, {"ingest.entries": [again, entry]}) == before
    if query.name in LICENSED:
        earlier = {**entry, **unlike, "wit_shard": "a"}
        assert results(tables, query, {"ingest.entries": [earlier, entry]}) == before


COUNTED_ONCE = {
    "release.images": {"position": 2},
    "cluster.image_sets": {"position": 2},
    "quality.checks": {"question_id": "another"},
    "ingest.images": {"wit_shard": "another"},
    "cluster.clusters": {"entry_id": "another", "category_text_id": "another"}
    | {"group_how": "no neighbour", "cluster_how": None, "group_id": None, "cluster_id": None},
}
"""Rows of the same image, set or dialogue, or of an entry that is in no group."""


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("release/approved_dialogues", "cluster.image_sets"),
        ("cluster/sets_by_kind", "cluster.image_sets"),
        ("cluster/sets_across_splits", "cluster.image_sets"),
        *((f"release/{name}", "release.images") for name in ("imported_images", "imported_pages")),
        ("release/export_licences", "release.images"),
        ("rewrite/released_images", "release.images"),
        ("cluster/image_hashes", "ingest.images"),
        ("rewrite/pictured", "ingest.images"),
        ("review/queue", "quality.checks"),
        *(
            (f"cluster/{name}", "cluster.clusters")
            for name in ("cluster_members", "largest_groups")
        ),
        *(
            (f"cluster/{name}", "cluster.clusters")
            for name in ("cluster_sizes", "members", "page_images")
        ),
    ],
)
def test_what_is_there_twice_or_in_no_group_changes_nothing(
    name: str, table: str, tables: duckdb.DuckDBPyConnection
) -> None:
    (query,) = (query for query in QUERIES if query.name == name)
    world = world_of(query)
    if "ingest.entries" in world:
        world["ingest.entries"] += [{**world["ingest.entries"][0], "entry_id": "another"}]
    before = results(tables, query, world)
    more = [{**row, **COUNTED_ONCE[table]} for row in world[table]]
    assert results(tables, query, {table: [*world[table], *more]}) == before


def asked(tables: duckdb.DuckDBPyConnection, name: str, rows: Rows, **params: Any) -> list[Row]:
    """The result of a query for rows that have what `rows` says and are else those of every table."""
    query = Query(name, "any", "", "")
    base = {table: rows_of(table)[0] for table in rows}
    full = {table: [{**base[table], **row} for row in of] for table, of in rows.items()}
    return results(tables, query, full, **params)


def test_the_largest_come_first(tables: duckdb.DuckDBPyConnection) -> None:
    """Of three groups `b` and `c` have two entries each."""
    grouped = {"1": "a", "2": "c", "3": "c", "4": "b", "5": "b"}
    entries = [{"entry_id": each, "categories": [group]} for each, group in grouped.items()]
    clusters = [
        {"entry_id": each, "group_id": group, "group_centre": each if each in "13" else "none"}
        for each, group in grouped.items()
    ]
    found = asked(tables, "cluster/categories", {"ingest.entries": entries})
    assert [(row["category"], row["n_entries"]) for row in found] == [("b", 2), ("c", 2), ("a", 1)]
    rows = {"cluster.clusters": clusters, "ingest.entries": entries}
    found = asked(tables, "cluster/largest_groups", rows, n_rows=2)
    assert [(row["group_id"], row["size"], row["share"]) for row in found] == [
        *(("b", 2, 0.4), ("c", 2, 0.4))
    ]
    spoken = {"a": ["x", "y"], "b": ["z"], "c": ["w"]}
    entries = [{"entry_id": each, "language": of} for of, ids in spoken.items() for each in ids]
    read = [{"language": language, "is_read": False} for language in "cba"]
    rows = {"cluster.languages": read, "ingest.entries": entries}
    found = asked(tables, "cluster/unreadable_languages", rows, model="model")
    assert [(row["language"], row["n"]) for row in found] == [("a", 2), ("b", 1), ("c", 1)]


def test_the_largest_communities_are_some_of_each_kind(tables: duckdb.DuckDBPyConnection) -> None:
    sizes = {"a": 1, "b": 2, "c": 2, "d": 3}
    communities = [
        {"community_id": f"{kind} {name}", "kind": kind, "n_members": size, "place": place}
        | {"group_id": None if kind == "group" else "group a"}
        for kind in ("cluster", "group")
        for place, (name, size) in enumerate(sizes.items(), 1)
    ]
    vectors = [{"text": text, "text_id": text_id} for text, text_id in SHA.items()]
    rows = {"cluster.communities": communities, "cluster.embeddings": vectors}
    found = asked(tables, "cluster/largest_communities", rows, n_each=2)
    assert [(row["community_id"], row["centre"]) for row in found] == [
        *(("group d", "categories"), ("group b", "categories")),
        *(("cluster d", "caption"), ("cluster b", "caption")),
    ]


def test_the_queue_begins_with_what_the_checks_want_looked_at(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """A pair that a check drops from an instruction set needs nobody."""
    checks = {
        "passed": ("pass", "benchmark"),
        "unclear": ("review", "instruction"),
        "left": ("drop", "instruction"),
        "dropped": ("drop", "benchmark"),
    }
    rows = {
        "quality.checks": [
            {"dialogue_id": item_id, "outcome": outcome, "kind": kind, "not_checked": None}
            for item_id, (outcome, kind) in checks.items()
        ],
        "review.queue": [
            *({"item_id": item_id} for item_id in checks),
            {"item_id": "aaa", "kind": "rewrite"},
        ],
    }
    found = asked(tables, "review/queue", rows)
    assert [row["item_id"] for row in found] == ["dropped", "unclear", "left", "passed", "aaa"]


def test_pictures_of_seeds_dialogues_and_conversations_have_a_source(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """Of entries with one picture that of the first shard, and there the first one."""
    images = {letter: letter * 64 for letter in "abcd"}
    entries = [{"entry_id": letter, "image_id": images[letter]} for letter in "dcba"]
    entries += [
        {"entry_id": "1", "image_id": images["a"], "title": "first", "wit_shard": "s1"},
        {"entry_id": "0", "image_id": images["a"], "wit_shard": "s2"},
        {"entry_id": "2", "image_id": images["a"], "wit_shard": "s1"},
    ]
    rows: Rows = {
        "ingest.entries": entries,
        "rewrite.seeds": [{"image_id": images["a"]}],
        "rewrite.contexts": [{"image_id": images["b"]}],
        "dialogue.three_turns": [{"image_id": images["c"]}],
    }
    found = asked(tables, "release/picture_sources", rows)
    assert [row["image_id"][0] for row in found] == ["a", "b", "c"]
    assert found[0]["title"] == "first"


def test_the_images_of_a_set_are_in_their_order(tables: duckdb.DuckDBPyConnection) -> None:
    entries = {3: "a", 1: "b", 2: "c"}
    sets = [
        {"position": position, "entry_id": entry_id, "image_id": f"of {entry_id}"}
        for position, entry_id in entries.items()
    ]
    (found,) = asked(tables, "cluster/prior_sets", {"cluster.image_sets": sets}, kind="benchmark")
    assert found["entry_ids"] == ["b", "c", "a"]
    assert found["image_ids"] == ["of b", "of c", "of a"]


def test_a_stack_has_the_sources_of_pictures_of_several_sets(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """A dialogue of set `s` goes on with a question on the picture of set `t`."""
    sets = {"s": "a", "t": "b"}
    rows: Rows = {
        "ingest.entries": [{"entry_id": name, "title": f"title {name}"} for name in "ab"],
        "cluster.image_sets": [
            {"set_id": set_id, "entry_id": name, "image_id": f"image {name}"}
            for set_id, name in sets.items()
        ],
        "dialogue.questions": [{"set_id": each, "question_id": f"on {each}"} for each in sets],
        "dialogue.dialogues": [
            {"set_id": "s", "image_ids": ["image a", "image b"]}
            | {"turns": [{**TURNS[0], "question_id": f"on {each}"} for each in sets]}
        ],
    }
    found = asked(tables, "release/sources", rows)
    assert sorted((row["set_id"], row["image_id"], row["title"]) for row in found) == [
        ("s", "image a", "title a"),
        ("s", "image b", "title b"),
        ("t", "image b", "title b"),
    ]


def test_captions_of_a_language_are_those_with_the_smallest_ids(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """The id of `b` is smaller, and two entries have it as their caption."""
    captions = {"1": "a", "2": "b", "3": "b"}
    rows = {"ingest.entries": [{"entry_id": n, "caption": text} for n, text in captions.items()]}
    of = {n: asked(tables, "cluster/captions_of_languages", rows, n=n) for n in (1, 9)}
    assert of[1] == [{"language": "language", "texts": ["b"]}]
    assert of[9] == [{"language": "language", "texts": ["b", "a"]}]


def test_a_release_is_current_if_its_name_says_so(tables: duckdb.DuckDBPyConnection) -> None:
    releases = [{"name": "n", "release_id": each} for each in "cab"]
    rows = {"release.releases": releases, "release.current": [{"name": "n", "release_id": "b"}]}
    found = asked(tables, "release/all", rows)
    assert [(row["release_id"], row["is_current"]) for row in found] == [
        *(("a", False), ("b", True), ("c", False))
    ]


def test_only_built_items_are_counted_if_there_are_any(tables: duckdb.DuckDBPyConnection) -> None:
    origins = {"a": ("imported", "benchmark"), "b": ("built", "instruction")}
    releases = [
        {"release_id": each, "name": each, "origin": origin, "kind": kind}
        for each, (origin, kind) in origins.items()
    ]
    items = [{"release_id": each, "item_id": item} for each in origins for item in "ij"]
    rows: Rows = {"release.items": items, "release.releases": releases}
    rows["release.current"] = [{"name": each, "release_id": each} for each in origins]
    assert asked(tables, "release/items_by_kind", rows) == [{"kind": "instruction", "n": 2}]
    for release in releases:
        release["origin"] = "imported"
    found = asked(tables, "release/items_by_kind", rows)
    assert [(row["kind"], row["n"]) for row in found] == [("benchmark", 2), ("instruction", 2)]


def test_a_community_whose_centre_is_gone_has_its_text_as_title(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    vectors = [{"text": text, "text_id": text_id} for text, text_id in SHA.items()]
    communities = [{**row, "centre_entry_id": "gone"} for row in rows_of("cluster.communities")]
    rows: Rows = {"cluster.embeddings": vectors, "cluster.communities": communities}
    rows["ingest.entries"] = rows["cluster.map"] = [{}]
    rows["cluster.clusters"] = [{"cluster_centre": "another"}]
    rows["cluster.cohesion"] = []
    (found,) = asked(tables, "cluster/cluster_centres", rows)
    assert (found["cluster_id"], found["title"]) == ("cluster_id", "caption")
    (found,) = asked(tables, "cluster/map_points", rows)
    assert (found["group_title"], found["cluster_title"]) == ("categories", None)
    assert found["is_centre"] is False
    rows["cluster.communities"] = rows_of("cluster.communities")
    assert asked(tables, "cluster/map_points", rows)[0]["group_title"] == "title"


def test_the_loosest_clusters_come_first_and_are_below_the_limit(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    means = {"at the limit": 0.5, "b": 0.25, "a": 0.25, "tight": 0.75}
    rows = {
        "cluster.cohesion": [
            {"cluster_id": each, "mean_similarity": mean} for each, mean in means.items()
        ]
    }
    found = asked(tables, "cluster/loose", rows, n_similarity=0.5)
    assert [row["cluster_id"] for row in found] == ["a", "b"]
    rows |= {"cluster.communities": [{"community_id": "a", "centre_entry_id": "gone"}]}
    found = asked(tables, "cluster/loosest", {**rows, "ingest.entries": [{}]}, n_rows=3)
    assert [row["cluster_id"] for row in found] == ["a", "b", "at the limit"]


def test_an_image_of_a_page_has_the_clusters_of_its_entries_and_its_near_duplicates(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """The page `other` has the same image, and no versions; a group by URLs alone is none."""
    grouped = {"2": "b", "1": "a", "3": None}
    no_cluster = {"cluster_how": "no neighbour"}
    rows: Rows = {
        "ingest.entries": [{"entry_id": each} for each in grouped]
        + [{"entry_id": "4", "page_id": "other"}],
        "cluster.clusters": [
            {"entry_id": each, "cluster_id": of, **({} if of else no_cluster)}
            for each, of in grouped.items()
        ],
        "cluster.duplicates": [{"distance": None}],
        "ingest.pages": [{}, {"page_id": "third"}, {"wit_shard": "another", "page_id": "other"}],
    }
    found = asked(tables, "cluster/page_images", rows)
    columns = ("page_id", "clusters", "versions", "duplicate_group")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("other", [], [], None),
        ("page_id", ["a", "b"], ["version_ids"], None),
    ]
    rows["cluster.duplicates"] = [{"distance": 0}]
    found = asked(tables, "cluster/page_images", rows)
    assert [row["duplicate_group"] for row in found] == ["group_id", "group_id"]


def test_a_changed_entry_has_the_group_of_its_former_version_with_most_of_its_texts(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    """`own` is as it was clustered; the entries of the other rows are gone."""
    new = {
        "entry_id": "new",
        "page_id": "p",
        "image_id": "i",
        "caption": "new",
        "categories": ["c"],
    }
    ids = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("new", "c")}
    texts = {"category_text_id": ids["c"], "caption_text_id": ids["new"]}
    at = {"page_id": "p", "image_id": "i"}
    clusters = [
        {**texts, **at, "entry_id": "near", "category_text_id": "other"},
        {**texts, **at, "entry_id": "far", "caption_text_id": "other"},
        {**texts, **at, "entry_id": "of another page", "page_id": "q"},
        {**texts, **at, "entry_id": "of another image", "image_id": "j"},
        {"entry_id": "own"},
    ]
    rows: Rows = {"cluster.clusters": [{**row, "group_id": row["entry_id"]} for row in clusters]}
    rows["ingest.entries"] = [new, {"entry_id": "own"}, {"entry_id": "later"}]
    rows["cluster.languages"] = [{"is_read": False, "language": "de"}]
    found = asked(tables, "cluster/prior_memberships", rows, model="model")
    columns = ("entry_id", "group_id", "known", "category_changed", "caption_changed")
    assert [tuple(row[name] for name in columns) for row in found] == [
        ("later", "own", False, False, False),
        ("new", "near", False, True, False),
        ("own", "own", True, False, False),
    ]


def test_entries_without_a_split_are_in_no_benchmark_and_a_text_counts_once(
    tables: duckdb.DuckDBPyConnection,
) -> None:
    reasons = {"a": ("benchmark", "sampled"), "b": ("instruction", "sampled")}
    reasons |= {"c": (None, "bridges_splits"), "d": (None, "bridges_splits")}
    rows: Rows = {
        "ingest.entries": [{"entry_id": each, "page_id": each} for each in reasons],
        "cluster.splits": [
            {"page_id": each, "split": split, "reason": reason}
            for each, (split, reason) in reasons.items()
        ],
    }
    found = asked(tables, "cluster/left_out_of_benchmarks", rows)
    assert [(row["reason"], row["n"]) for row in found] == [
        *(("bridges_splits", 2), ("in the instruction split", 1))
    ]
    vectors = [{"text": text, "text_id": text_id} for text, text_id in SHA.items()]
    rows["cluster.embeddings"] = vectors
    assert asked(tables, "cluster/known_texts", rows, model="model") == [{"n": 2}]
    rows["cluster.embeddings"] = vectors[:1]
    assert asked(tables, "cluster/known_texts", rows, model="model") == [{"n": 1}]
