"""Keys and checks that are asked of rows before they are added say what DuckDB's own would say."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from resources import lake_rules
from resources.lake_rules import declared_rules, rules_of, run_script, verify
from resources.warehouse import arrow_schema
from resources.warehouse_schema import extras_ddl, schema_ddl

Connection = duckdb.DuckDBPyConnection
ANSWERS = "dialogue.answers"
SMALL = """
CREATE TABLE dialogue.small (
    a VARCHAR, b INTEGER CHECK (b > 0), c INTEGER UNIQUE, PRIMARY KEY (a, b), CHECK (c <> b OR a = 'x')
);
"""
ROWS = st.lists(
    st.fixed_dictionaries(
        {"a": st.sampled_from("xy"), "b": st.integers(0, 2), "c": st.none() | st.integers(0, 3)}
    ),
    max_size=4,
)


@pytest.fixture(scope="module")
def tables() -> Iterator[Connection]:
    """The tables without their rules, as a lake has them."""
    with duckdb.connect() as connection:
        run_script(connection, schema_ddl() + extras_ddl())
        yield connection


def refusal(connection: Connection, table: str, rows: pa.Table) -> str | None:
    """What is said of rows that are to be added to a table."""
    try:
        verify(connection, table, lambda: connection.register("incoming", rows), ["another"])
    except duckdb.ConstraintException as error:
        return str(error)
    finally:
        connection.unregister("incoming")
    return None


def test_every_rule_of_sql_is_known_but_not_null_which_a_lake_has(tables: Connection) -> None:
    rules = declared_rules()
    assert len(rules) > 70 and rules[ANSWERS] == (("(length(answer) > 0)",), (("question_id",),))
    assert sum(len(each.checks) for each in rules.values()) > 250
    assert rules_of(tables) == {}
    columns = (
        "SELECT schema_name, table_name, column_name, data_type, is_nullable FROM duckdb_columns()"
    )
    with duckdb.connect() as declared:
        declared.execute(schema_ddl() + extras_ddl())
        wanted = declared.execute(f"{columns} WHERE NOT internal ORDER BY ALL").fetchall()
    assert tables.execute(f"{columns} WHERE NOT internal ORDER BY ALL").fetchall() == wanted


def test_a_kind_of_rule_that_nothing_enforces_is_noticed() -> None:
    with duckdb.connect() as connection, pytest.raises(ValueError, match="a rule FOREIGN KEY"):
        connection.execute("CREATE TABLE a (x INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE b (x INTEGER REFERENCES a (x))")
        rules_of(connection)


@pytest.mark.parametrize("table", sorted(declared_rules()))
def test_the_rules_of_every_table_can_be_asked(tables: Connection, table: str) -> None:
    """A row of NULLs breaks few of them; where it does, the first sentence is the file's."""
    rows = pa.Table.from_pylist([{}], schema=arrow_schema(table))
    said = refusal(tables, table, rows)
    if said is not None:
        with duckdb.connect() as declared:
            declared.execute(schema_ddl() + extras_ddl())
            declared.register("incoming", rows)
            with pytest.raises(duckdb.ConstraintException) as refused:
                declared.execute(f"INSERT INTO {table} BY NAME SELECT * FROM incoming")
        assert said == str(refused.value)


@contextmanager
def small(stored: list[dict[str, object]]) -> Iterator[tuple[Connection, Connection]]:
    """A table without its rules and with them, with the same rows."""
    with (
        pytest.MonkeyPatch.context() as patch,
        closing(duckdb.connect()) as bare,
        closing(duckdb.connect()) as ruled,
    ):
        ddl = f"CREATE SCHEMA dialogue; {SMALL}"
        ruled.execute(ddl)
        rules = rules_of(ruled)
        columns = [("a", "VARCHAR", False), ("b", "INTEGER", False), ("c", "INTEGER", True)]
        patch.setattr(lake_rules, "declared_rules", lambda: rules)
        patch.setattr(lake_rules, "declared_columns", lambda: {"dialogue.small": columns})
        patch.setattr(lake_rules, "schema_ddl", lambda: ddl)
        patch.setattr(lake_rules, "extras_ddl", lambda: "")
        run_script(bare, ddl)
        for connection in (bare, ruled):
            connection.register("stored", as_table(stored))
            connection.execute("INSERT INTO dialogue.small SELECT * FROM stored")
        yield bare, ruled


def as_table(rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(
        rows, schema=pa.schema([("a", pa.string()), ("b", pa.int32()), ("c", pa.int32())])
    )


@given(ROWS)
def test_rows_are_refused_exactly_when_a_file_refuses_them(added: list[dict[str, object]]) -> None:
    """Beside stored rows, whose keys they may have, too."""
    stored = [{"a": "x", "b": 1, "c": 1}, {"a": "y", "b": 2, "c": None}]
    with small(stored) as (bare, ruled):
        said = refusal(bare, "dialogue.small", as_table(added))
        ruled.register("incoming", as_table(added))
        try:
            ruled.execute("INSERT INTO dialogue.small BY NAME SELECT * FROM incoming")
            refused = None
        except duckdb.ConstraintException as error:
            refused = str(error)
    assert (said is None) == (refused is None), (said, refused)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"a": "x", "b": 0, "c": 2}, "CHECK((b > 0))"),
        ({"a": "x", "b": 1, "c": 2}, 'Duplicate key "a: x, b: 1" violates primary key constraint'),
        ({"a": "z", "b": 2, "c": 1}, 'Duplicate key "c: 1" violates unique constraint'),
    ],
)
def test_one_row_is_refused_in_the_files_words(row: dict[str, object], said: str) -> None:
    with small([{"a": "x", "b": 1, "c": 1}]) as (bare, ruled):
        found = refusal(bare, "dialogue.small", as_table([row]))
        ruled.register("incoming", as_table([row]))
        with pytest.raises(duckdb.ConstraintException) as refused:
            ruled.execute("INSERT INTO dialogue.small BY NAME SELECT * FROM incoming")
    assert found == str(refused.value) and said in found


def test_a_key_with_all_columns_of_the_partition_is_not_looked_for_elsewhere() -> None:
    """The rows of other partitions have other keys; of the same partition there are none left."""
    with small([{"a": "x", "b": 1, "c": 1}]) as (bare, _):
        rows = as_table([{"a": "x", "b": 1, "c": None}])
        bare.register("incoming", rows)
        verify(bare, "dialogue.small", lambda: None, ["a"])
        verify(bare, "dialogue.small", lambda: None, [])
        with pytest.raises(duckdb.ConstraintException, match="primary key"):
            verify(bare, "dialogue.small", lambda: None, ["c"])


def test_rows_that_a_script_puts_into_a_new_table_are_asked_too() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA dialogue")
        script = f"{SMALL} INSERT INTO dialogue.small VALUES ('x', 1, 1), ('x', 1, 2);"
        with pytest.raises(duckdb.ConstraintException, match="duplicate key"):
            run_script(connection, script)
