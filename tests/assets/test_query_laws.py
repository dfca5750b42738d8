"""Laws that hold for all queries, put to each query and view of `query_table.py`.

Each law takes rows that belong together (`world_of`), of which a query gives one row, changes some of
them and says what the result is then. The columns of a line of the table say where a law holds:

- Without a row of one table there is no row, unless the table is optional.
- Rows with another value in a column of `matching` are as none, and change nothing if they are added.
- A column has values of columns of its name.
- The rows of two copies of all tables are in the order of `order`.
- Archived models and judges are not shown, and answers without a call count as those with one.
- An entry of two shards counts once, and so does what a query does not list.
"""

import hashlib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import Any

import duckdb
import pytest

from tests.assets.query_copies import (
    asked_for,
    copy_of,
    keys_of,
    neighbours,
    numbered,
    one_of_each_key,
)
from tests.assets.query_rows import IMAGE, Row, Rows, reads, results, rows_of, text_of_query, write
from tests.assets.query_table import N_ROWS, QUERIES, Query, world_of


def of_queries(queries: list[Query]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("query", queries, ids=[query.label for query in queries])


def results_of(tables: duckdb.DuckDBPyConnection, query: Query, rows: Rows) -> list[Row]:
    """The result of a query; rows without an order are sorted."""
    found = results(tables, query.name, rows)
    return found if query.order else sorted(found, key=repr)


@of_queries(QUERIES)
def test_only_what_may_be_missing_is_missed_by_no_row(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    n_rows = len(results_of(tables, query, world))
    assert n_rows == N_ROWS.get(query.name, 1)
    for table, rows in world.items():
        if rows:
            left = len(results_of(tables, query, {table: []}))
            is_optional = table.partition(".")[2] in query.optional.split()
            assert left == (n_rows if is_optional else 0), table
            write(tables, {table: rows})


OTHER_TEXTS = {
    "benchmark": "instruction",
    "answer": "caption",
    "approved": "pending",
    "imported": "built",
    "floor": "common",
    "judged": "common",
    "all_items": "common",
    "answers": "judgments",
    "pair": "score",
}
OTHER_TEXTS |= {"built": "imported", "all": "a|b", "instruction": "benchmark", "model": "another"}
OTHER_TEXTS |= {kind: "reference" for kind in ("dialogue", "multiple_choice", "translation")}
"""Other values where a column may not have any text."""
ABSENT: dict[str, Row] = {
    "value": {"value": None, "reason": "too few"},
    "split": {"split": None, "reason": "bridges_splits"},
    "distance": {"distance": None},
    "text_id": {"text": "another", "text_id": hashlib.sha256(b"another").hexdigest()},
    "scores": {"scores": []},
    "settings": {"settings": None},
    "answers.answer": {"status": "failed", "answer": None},
    "answers.status": {"status": "given"},
    "observations.status": {"status": "no_reference", "value": None},
    "reports.n_models": {"n_models": 0},
    "releases.n_items": {"n_items": 1},
}
"""What a row has that a filter leaves out."""


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 10
    return "a" * 64 if value == IMAGE else OTHER_TEXTS.get(value, f"other {value}")


def others(table: str, rows: list[Row], column: str) -> list[Row]:
    """The rows with another value in a column."""
    full = f"{table.partition('.')[2]}.{column}"
    absent = ABSENT.get(full) or ABSENT.get(column)
    rows = rows[:1] if column == "text_id" else rows
    changed = [{**row, **(absent or {column: other(row[column])})} for row in rows]
    return one_of_each_key(table, changed)


def unlike(table: str, rows: list[Row]) -> list[Row]:
    """The rows with other texts in columns that are of no key."""
    of_keys = {column for key in keys_of(table) for column in key}
    return [
        {
            column: f"unlike {value}" if value == column and column not in of_keys else value
            for column, value in row.items()
        }
        for row in rows
    ]


@of_queries(QUERIES)
def test_rows_of_something_else_are_as_none(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    before = results_of(tables, query, world)
    for table, rows in world.items():
        without = results_of(tables, query, {table: []})
        of_else = {
            column: others(table, rows, column)
            for column in (rows[0] if rows else ())
            if query.matches(table, column)
        }
        for column, changed in of_else.items():
            assert results_of(tables, query, {table: changed}) == without, (table, column)
        in_key = {column for column in of_else if all(column in key for key in keys_of(table))}
        more = [row for column in in_key for row in unlike(table, of_else[column])]
        assert results_of(tables, query, {table: [*more, *rows]}) == before, (table, in_key)
        write(tables, {table: rows})
    for column in {"release_id", "wit_shard", "model"} & {*query.matching.split()}:
        # All rows are there once more, for another release, shard or model.
        twice = {
            table: [*others(table, rows, column), *rows]
            for table, rows in world.items()
            if rows and column in rows[0] and all(column in key for key in keys_of(table))
        }
        assert results_of(tables, query, twice) == before, column


RENAMED = {"cluster/left_out_of_benchmarks", "cluster/text_ids"}
NAMES: Mapping[str, Sequence[Any]] = {
    **{"release": ["release_id"], "item": ["item_id"], "label": ["model"], "cluster": ["group_id"]},
    **{"before": ["second"], "after": ["first"], "value_before": [0.25], "value_after": [0.5]},
    **{"trained_on": ["y", "trained_on"], "metric": ["metric/aggregation"], "ranks": ["12-14"]},
    **{"all_items": [0.33], "judged_only": [0.44], "related": ["family"], "flag": ["wrong_item"]},
    **{"role": ["answer", "reader", "judge"], "asked": ["model", "extractor", "judge"]},
    **{"dimension": ["dimension"], "n_without_picture": [12], "n_no_answer": [15]},
    **{"candidate": ["model"], "answer": ["answer_call_key"], "answer_status": ["answered"]},
    **{"category": ["categories"]},
    **{"version": ["judge_version", "judge_prompt_version"], "key": ["answer_call_key"]},
    **{"place": ["A"], "explanation": [""], "score": [0.25], "judge": [""]},
}
"""Values of columns that no table has, or that are put together."""
WITHOUT = {"call_key", "score", "judged_only"}
"""Columns that may have no value."""


@of_queries(QUERIES)
def test_a_column_has_values_of_columns_of_its_name(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    (*_, row) = results_of(tables, query, world)
    for column, value in row.items():
        known = [of[column] for rows in world.values() for of in rows if column in of]
        if column in ("content", "generated") and "review.approved" in world:
            known = ["{}" if column == "content" else '"made"']
        if query.name.startswith("evaluate"):
            known += NAMES.get(column, [])
            assert value is not None or None in known or not known or column in WITHOUT, column
            known += [] if isinstance(value, int) else [column]
        if isinstance(value, str | float | int) and known and query.name not in RENAMED:
            assert value in known, column


def in_order(rows: list[Row], order: list[str]) -> list[Row]:
    """The rows sorted by those columns of an order that they have."""
    for each in reversed(order):
        column = each.strip("-")
        if len(rows) > 1 and column in rows[0]:
            rows = sorted(rows, key=itemgetter(column), reverse=each != column)
    return rows


@of_queries([query for query in QUERIES if query.order])
def test_rows_are_sorted_however_they_were_written(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    """The second one of two copies of all rows is written first. The result has the first one first."""
    world = world_of(query)
    of_one = results_of(tables, query, world)
    columns = {column for rows in world.values() for row in rows for column in row}
    texts = columns | {each.strip("+-") for each in query.order.split()}
    names = [
        name
        for name, value in of_one[0].items()
        if (value in texts if isinstance(value, str) and value != IMAGE else name in columns)
    ]
    order = [each for each in query.order.split() if each[0] != "+"]
    assert of_one == in_order(of_one, order)
    for column, *numbers in neighbours(query, world):
        first, second = (copy_of(world, each) for each in numbers)
        expected = [
            {name: numbered(name, value, each) for name, value in row.items()}
            for each in numbers
            for row in of_one
        ]
        # Where a copy has several rows, they are apart by the columns before.
        before = order[: [each.strip("-") for each in order].index(column)]
        expected = in_order(expected, before)
        both = {table: one_of_each_key(table, [*second[table], *first[table]]) for table in world}
        found = results_of(tables, query, both)
        assert [[row[name] for name in names] for row in found] == [
            [row[name] for name in names] for row in expected
        ], column


@of_queries([query for query in QUERIES if query.order])
def test_many_rows_are_sorted(query: Query, tables: duckdb.DuckDBPyConnection) -> None:
    """The copies of all rows differ in all texts but those of the first columns of the order."""
    world = world_of(query)
    (row, *_) = results_of(tables, query, world)
    columns = {name for rows in world.values() for each in rows for name in each}
    values = [value for rows in world.values() for each in rows for value in each.values()]
    texts = {value for value in values if isinstance(value, str) and value in columns}
    order = [*takewhile(row.__contains__, query.order.replace("-", "").split())]
    for place in range(len(order)):
        differ = {*texts, "image_id"} - {*order[:place]} - asked_for(query)
        copies = [copy_of(world, dict.fromkeys(differ, number)) for number in (3, 1, 4, 2)]
        many = {
            table: one_of_each_key(table, [row for copy in copies for row in copy[table]])
            for table in world
        }
        found = results_of(tables, query, many)
        marked = query.order.split()[: len(order)]
        assert found == in_order(found, marked), place


SHOWN = [query for query in QUERIES if ".shown_" in text_of_query(query.name)]


@of_queries(SHOWN)
def test_an_archived_model_or_judge_is_not_shown(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    before = results_of(tables, query, world)
    shown = {name.replace("shown_", "") for name in reads(query.name) if ".shown_" in name}
    of_judges = shown & world.keys() - {"evaluate.answers"}
    without_judges = results_of(tables, query, {table: [] for table in of_judges})
    write(tables, world)
    for column, names, expected in (
        ("model", ["another"], before),
        ("model", ["model", "model_a"], []),
        *([("model", ["model_b"], [])] if "evaluate.shown_pairs" in reads(query.name) else []),
        ("judge", ["judge", "asked"], without_judges),
    ):
        archive = [{**rows_of("evaluate.archive")[0], column: name} for name in names]
        found = results_of(tables, query, {"evaluate.archive": archive})
        write(tables, {"evaluate.archive": []})
        assert found == expected, names


OF_CALLS = [query for query in QUERIES if "IS NOT DISTINCT FROM" in text_of_query(query.name)]
CALLS = {"answer_call_key", "answer_a_call_key", "answer_b_call_key"}


@of_queries(OF_CALLS)
def test_an_answer_of_a_file_has_no_call_and_what_was_made_of_it_counts(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    def of_file(rows: list[Row]) -> list[Row]:
        return [
            {column: None if str(value) in CALLS else value for column, value in row.items()}
            for row in rows
        ]

    world = world_of(query)
    expected = of_file(results_of(tables, query, world))
    assert results_of(tables, query, {table: of_file(world[table]) for table in world}) == expected
    if query.name != "evaluate/pairs_of":
        without_calls = len(results_of(tables, query, {"evaluate.answers": []}))
        write(tables, world)
        assert without_calls == len(results_of(tables, query, {"evaluate.answers": []}))


FIRST = {"choice/mmiu_subjects", "dialogue/entry_texts", "quality/dialogues", "rewrite/candidates"}
FIRST |= {"rewrite/pictured", "cluster/map_points", "cluster/text_ids", "cluster/vectors"}
LICENSED = {"release/picture_sources", "release/sources"}
OF_ENTRIES = [
    query
    for query in QUERIES
    if "ingest.entries" in reads(query.name) and query.name != "ingest/without_licence"
]


@of_queries(OF_ENTRIES)
def test_an_entry_of_two_shards_counts_once(
    query: Query, tables: duckdb.DuckDBPyConnection
) -> None:
    world = world_of(query)
    before = results_of(tables, query, world)
    (entry,) = world["ingest.entries"]
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
    "evaluate.answers": {"trial": "another"},
    "evaluate.judgments": {"part": "part 1"},
    "evaluate.observations": {"part": "another"},
    "cluster.clusters": {"entry_id": "another", "category_text_id": "another"}
    | {"group_how": "no neighbour", "cluster_how": None, "group_id": None, "cluster_id": None},
}
"""Rows of the same image, set, dialogue or model, or of an entry that is in no group."""


MAY_BE_THERE_TWICE = {
    "cluster.image_sets": "release/approved_dialogues cluster/sets_by_kind "
    "cluster/sets_across_splits",
    "release.images": "release/imported_images release/imported_pages release/export_licences "
    "rewrite/released_images",
    "ingest.images": "cluster/image_hashes rewrite/pictured",
    "quality.checks": "review/queue",
    "evaluate.observations": "evaluate/call_keys_of",
    "evaluate.judgments": "evaluate/judged_models_of evaluate/queued_pairs",
    "evaluate.answers": "evaluate/answered_items_of evaluate/answered_releases evaluate/asked_items "
    "evaluate/answering_models_of evaluate/unjudgeable_of evaluate/unjudged",
    "cluster.clusters": "cluster/cluster_members cluster/largest_groups cluster/cluster_sizes "
    "cluster/members cluster/page_images",
}
"""The queries that have the same result with such rows, by table."""


@pytest.mark.parametrize(
    ("name", "table"),
    [(name, table) for table, names in MAY_BE_THERE_TWICE.items() for name in names.split()],
)
def test_what_is_there_twice_or_in_no_group_changes_nothing(
    name: str, table: str, tables: duckdb.DuckDBPyConnection
) -> None:
    (query,) = (query for query in QUERIES if query.label == name)
    world = world_of(query)
    if "ingest.entries" in world:
        world["ingest.entries"] += [{**world["ingest.entries"][0], "entry_id": "another"}]
    before = results_of(tables, query, world)
    more = [{**row, **COUNTED_ONCE[table]} for row in world[table]]
    assert results_of(tables, query, {table: [*world[table], *more]}) == before
