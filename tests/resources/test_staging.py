"""Rows that are staged before they are added are refused as a DuckDB file refuses them."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources.warehouse import arrow_schema, staging
from resources.warehouse.declarations import extras_ddl, schema_ddl
from resources.warehouse.staging import require_rules, run_on_lake

pytestmark = pytest.mark.slow

Connection = duckdb.DuckDBPyConnection
SMALL = """
CREATE TABLE dialogue.small (
    a VARCHAR, b INTEGER CHECK (b > 0), c INTEGER UNIQUE, PRIMARY KEY (a, b), CHECK (c <> b OR a = 'x')
);
"""
SMALL_DDL = f"CREATE SCHEMA dialogue; {SMALL}"
ROWS = st.lists(
    st.fixed_dictionaries(
        {"a": st.sampled_from("xy"), "b": st.integers(0, 2), "c": st.none() | st.integers(0, 3)}
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def stages() -> Iterator[tuple[Connection, Connection]]:
    """The tables without their rules, as a lake has them, and as `sql/` declares them."""
    with closing(duckdb.connect()) as bare, closing(duckdb.connect()) as ruled:
        run_on_lake(bare, schema_ddl() + extras_ddl())
        ruled.execute(schema_ddl() + extras_ddl())
        yield bare, ruled


def refusal_on_lake(
    connection: Connection, table: str, rows: pa.Table, partition: Sequence[str] = ("another",)
) -> str | None:
    try:
        require_rules(connection, table, partition, lambda each: each.register("incoming", rows))
    except duckdb.ConstraintException as error:
        return str(error)
    return refusal_of_table(connection, table, rows)


def refusal_of_table(connection: Connection, table: str, rows: pa.Table) -> str | None:
    connection.register("incoming", rows)
    try:
        connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
    except duckdb.ConstraintException as error:
        return str(error)
    return None


def test_tables_of_a_lake_have_all_columns_and_no_rules(stages):
    columns = (
        "SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
        "WHERE NOT internal AND database_name = current_database() ORDER BY ALL"
    )
    rules = "SELECT DISTINCT constraint_type FROM duckdb_constraints()"
    bare, ruled = stages
    assert bare.execute(columns).fetchall() == ruled.execute(columns).fetchall()
    assert bare.execute(rules).fetchall() == [("NOT NULL",)]


def test_a_row_of_nulls_is_refused_in_the_words_of_the_table_that_declares_its_rules(stages):
    for table in staging.tables_with_rules():
        rows = pa.Table.from_pylist([{}], schema=arrow_schema(table))
        refusal = refusal_on_lake(stages[0], table, rows)
        assert refusal == refusal_of_table(stages[1], table, rows), table


@contextmanager
def small(stored: list[dict[str, object]]) -> Iterator[tuple[Connection, Connection]]:
    """A table without its rules and with them, with the same rows."""
    with closing(duckdb.connect()) as bare, closing(duckdb.connect()) as ruled:
        ruled.execute(SMALL_DDL)
        run_on_lake(bare, SMALL_DDL)
        for connection in (bare, ruled):
            connection.register("stored", as_table(stored))
            connection.execute("INSERT INTO dialogue.small SELECT * FROM stored")
        yield bare, ruled


def refusal_of_small(
    connection: Connection, rows: pa.Table, partition: Sequence[str] = ("another",)
) -> str | None:
    tables = staging._tables_of(SMALL_DDL)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "tables_with_rules", lambda: tables)
        return refusal_on_lake(connection, "dialogue.small", rows, partition)


def as_table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, schema=pa.schema([("a", pa.string()), ("b", pa.int32()), ("c", pa.int32())])
    )


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Connection, Connection]]:
    with small([{"a": "x", "b": 1, "c": 1}, {"a": "y", "b": 2, "c": None}]) as both:
        yield both


@given(ROWS)
def test_rows_are_refused_exactly_when_a_file_refuses_them(both, added):
    for connection in both:
        connection.begin()
    of_lake = refusal_of_small(both[0], as_table(added))
    of_file = refusal_of_table(both[1], "dialogue.small", as_table(added))
    for connection in both:
        connection.rollback()
    assert (of_lake is None) == (of_file is None), (of_lake, of_file)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("x", 0, 2)], "CHECK((b > 0))"),
        ([(None, 1, 2)], "NOT NULL constraint failed: small.a"),
        ([("z", 2, 2)], "CHECK(((c != b) OR (a = 'x')))"),
        ([("x", 1, 2)], 'Duplicate key "a: x, b: 1" violates primary key constraint'),
        ([("z", 2, 1)], 'Duplicate key "c: 1" violates unique constraint'),
        ([("q", 5, None), ("x", 1, 2)], 'Duplicate key "a: q, b: 5" violates'),
        ([("z", 2, 3), ("z", 2, 4)], 'duplicate key "z, 2"'),
        ([("x", 2, 3), ("z", 2, 3)], 'duplicate key "3"'),
    ],
    ids=["check", "null", "check of two", "key", "unique", "two keys", "key twice", "unique twice"],
)
def test_rows_are_refused_in_the_words_of_a_file(rows, message):
    added = as_table([dict(zip("abc", row, strict=True)) for row in rows])
    with small([{"a": "x", "b": 1, "c": 1}, {"a": "q", "b": 5, "c": None}]) as (bare, ruled):
        bare.begin()
        of_lake = refusal_of_small(bare, added)
        assert of_lake == refusal_of_table(ruled, "dialogue.small", added)
    assert of_lake is not None and message in of_lake


def test_a_key_with_all_columns_of_the_partition_is_not_searched_elsewhere():
    """Rows of other partitions have other keys, and those of this one are deleted."""
    rows = as_table([{"a": "x", "b": 1, "c": None}])
    for partition, is_refused in ((["a"], False), ([], False), (["c"], True)):
        with small([{"a": "x", "b": 1, "c": 1}]) as (bare, _):
            assert bool(refusal_of_small(bare, rows, partition)) is is_refused


def test_rows_that_a_script_puts_into_a_new_table_are_compared_with_its_rules():
    for rows, said in (("('x', 1, 1), ('x', 1, 2)", "duplicate key"), ("('x', 0, 1)", "CHECK")):
        with duckdb.connect() as connection:
            connection.execute("CREATE SCHEMA dialogue")
            with pytest.raises(duckdb.ConstraintException, match=said):
                run_on_lake(connection, f"{SMALL} INSERT INTO dialogue.small VALUES {rows};")
