"""What a step reads of the warehouse: another reading is noticed, and nothing else is."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from resources.warehouse import Warehouse, arrow_schema
from resources.warehouse.recorded_reads import would_read_the_same

BENCHMARKS = {"benchmarks": ["mmdu"]}


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    made = Warehouse(tmp_path / "warehouse.duckdb")
    write(made, "evaluate.not_made", step="evaluate.answers", release_id="", reason="none")
    release(made, "mmdu-1", "mmdu")
    return made


def write(warehouse: Warehouse, table: str, **row: object) -> None:
    """Put one row in the place of all rows."""
    warehouse.replace(table, pa.Table.from_pylist([row], schema=arrow_schema(table)))


def release(warehouse: Warehouse, release_id: str, benchmark: str | None) -> None:
    """Add a release with one item, and put it in force."""
    name = release_id.partition("-")[0]
    numbers = dict.fromkeys(("n_items", "n_turns", "n_images", "ordinal", "revision"), 1)
    card = {
        "name": name,
        "kind": "benchmark" if benchmark else "instruction",
        "benchmark": benchmark,
        "origin": "built",
        "review_policy": "none",
        "review_share": 0.0,
        "provider": "offline",
        "created_at": "2026-01-01",
    }
    item = {"item_id": f"of-{release_id}", "reviewers": [], "labels": {}}
    rows = {"release.releases": card, "release.current": {"name": name}, "release.items": item}
    for table, row in rows.items():
        schema = arrow_schema(table)
        known = {key: value for key, value in {**numbers, **row}.items() if key in schema.names}
        added = pa.Table.from_pylist([{**known, "release_id": release_id}], schema=schema)
        where = {"name": name} if table == "release.current" else {"release_id": release_id}
        warehouse.replace(table, added, where)


def read(
    warehouse: Warehouse, step: Callable[[Warehouse], object], own: Sequence[str] = ()
) -> dict[str, str]:
    with warehouse.recorded() as reads:
        step(warehouse)
    return reads.fingerprints(own)


def now(warehouse: Warehouse) -> Warehouse:
    """The same file, as another process finds it."""
    return Warehouse(warehouse.path)


def test_rows_of_a_table_that_change_are_noticed(warehouse: Warehouse) -> None:
    was = read(warehouse, lambda w: w.select("evaluate.not_made"))
    assert would_read_the_same(now(warehouse).recording, was)
    write(warehouse, "evaluate.not_made", step="evaluate.answers", release_id="", reason="other")
    assert not would_read_the_same(now(warehouse).recording, was)
    write(warehouse, "evaluate.not_made", step="evaluate.answers", release_id="", reason="none")
    assert would_read_the_same(now(warehouse).recording, was)


def test_what_a_view_is_made_of_is_read_with_it(warehouse: Warehouse) -> None:
    was = read(warehouse, lambda w: w.select("evaluate.leaderboard"))
    assert {"evaluate.scores", "evaluate.ranks"} <= {key.split('"')[1] for key in was}


def test_what_a_step_writes_itself_and_its_own_tables_are_left_out(warehouse: Warehouse) -> None:
    def step(of: Warehouse) -> None:
        of.select("evaluate.not_made")
        of.select("evaluate.missing")
        of.replace("evaluate.not_made", of.select("evaluate.not_made").slice(0, 0))

    assert read(warehouse, step, ["evaluate.missing"]) == {}


def test_another_release_is_none_of_a_step_that_reads_one(warehouse: Warehouse) -> None:
    was = read(warehouse, lambda w: w.read("release/items_of", {"release_id": "mmdu-1"}))
    assert was
    release(warehouse, "instruct-1", None)
    assert would_read_the_same(now(warehouse).recording, was)
    warehouse.replace("release.items", warehouse.select("release.items").slice(0, 0))
    assert not would_read_the_same(now(warehouse).recording, was)


def test_releases_in_force_are_looked_at_by_the_result(warehouse: Warehouse) -> None:
    was = read(warehouse, lambda w: w.read("release/current_of", BENCHMARKS))
    of_all = read(warehouse, lambda w: w.read("release/current"))
    release(warehouse, "instruct-1", None)
    assert would_read_the_same(now(warehouse).recording, was)
    assert not would_read_the_same(now(warehouse).recording, of_all)
    release(warehouse, "mmdu-2", "mmdu")
    assert not would_read_the_same(now(warehouse).recording, was)


def test_a_table_that_another_process_writes_while_a_step_reads_is_read_again(
    warehouse: Warehouse,
) -> None:
    def step(of: Warehouse) -> None:
        of.select("evaluate.not_made")
        write(now(of), "evaluate.not_made", step="evaluate.pairs", release_id="", reason="x")
        of.select("evaluate.not_made")

    assert not would_read_the_same(now(warehouse).recording, read(warehouse, step))


def test_a_query_that_is_gone_would_not_read_the_same(warehouse: Warehouse) -> None:
    assert not would_read_the_same(warehouse.recording, {'["release/no_such_query",{}]': "x"})


def test_a_query_among_others_is_read_with_the_parameters_that_it_names(
    warehouse: Warehouse,
) -> None:
    # The first names no parameter, the second the release.
    params = {"release_id": "mmdu-1", "n_items": 5}
    was = read(warehouse, lambda w: w.read_rows("release/{}", ["all", "items_of"], params))
    assert would_read_the_same(now(warehouse).recording, was)
    release(warehouse, "other-1", None)
    assert not would_read_the_same(now(warehouse).recording, was), "all releases were read"
