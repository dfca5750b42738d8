"""Queries of the stages before the evaluation: what they join, filter and sort by."""

import hashlib
import random
import re
from functools import cache
from typing import Any, NamedTuple

import duckdb
import pytest

from resources.warehouse import declared_columns, sql_text
from resources.warehouse.staging import tables_with_rules
from tests.assets.stage_rows import IMAGE, PARAMS, SHA, Row, Rows, results, rows_of


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


def results_of(tables: duckdb.DuckDBPyConnection, query: Query, rows: Rows) -> list[Row]:
    """The result of a query; rows without an order are sorted."""
    found = results(tables, query.name, rows)
    return found if query.order else sorted(found, key=repr)


@BY_NAME
def test_only_what_may_be_missing_is_missed_by_no_row(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    n_rows = len(results_of(tables, query, world))
    assert n_rows == N_ROWS.get(query.name, 1)
    for table, rows in world.items():
        left = len(results_of(tables, query, {table: []}))
        assert left == (n_rows if table.partition(".")[2] in query.optional.split() else 0), table
        results_of(tables, query, {table: rows})


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
    before = results_of(tables, query, world)
    for table, rows in world.items():
        without = results_of(tables, query, {table: []})
        for column in rows[0]:
            full = f"{table.partition('.')[2]}.{column}"
            if full in UNMATCHED or not {column, full} & {*query.matching.split()}:
                continue
            else_ = others(rows, column)
            assert results_of(tables, query, {table: else_}) == without, full
            if all(column in key for key in tables_with_rules()[table].keys):
                added = {table: [*else_, *rows]}
                assert results_of(tables, query, added) == before, full
        results_of(tables, query, {table: rows})
    for column in {"release_id", "wit_shard", "model"} & {*query.matching.split()}:
        # All rows are there once more, for another release, shard or model.
        twice = {
            table: [*others(rows, column), *rows]
            for table, rows in world.items()
            if column in rows[0] and all(column in key for key in tables_with_rules()[table].keys)
        }
        assert results_of(tables, query, twice) == before, column


@BY_NAME
def test_a_column_has_values_of_columns_of_its_name(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    (*_, row) = results_of(tables, query, world)
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
    found = results_of(tables, query, rows)
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
    before = results_of(tables, query, world)
    (entry,) = world["ingest.entries"]
    if query.name == "ingest/without_licence":
        return
    again = {**entry, "wit_shard": "z"}
    unlike = {"title": "another", "caption": "another", "licence": None, "categories": []}
    if query.name in FIRST | LICENSED:
        again |= unlike
    assert results_of(tables, query, {"ingest.entries": [again, entry]}) == before
    if query.name in LICENSED:
        earlier = {**entry, **unlike, "wit_shard": "a"}
        assert results_of(tables, query, {"ingest.entries": [earlier, entry]}) == before


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
    before = results_of(tables, query, world)
    more = [{**row, **COUNTED_ONCE[table]} for row in world[table]]
    assert results_of(tables, query, {table: [*world[table], *more]}) == before
