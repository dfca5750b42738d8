"""SQL that a person types, and notebooks, read the tables of a file or a lake and do nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from methods.errors import UserError
from resources.notebook import Home, read_copy
from resources.warehouse import Warehouse, WarehouseError, arrow_schema
from resources.warehouse.lake import Lake, read_at
from resources.warehouse.lake_connection import LakeAddress
from resources.warehouse.query_check import QueryRefused, require_query
from tests.lakes import made_lake
from tests.resources.test_warehouse import TABLE, answers

PASSWORD = "pgs3cret"
CATALOGUE = "__ducklake_metadata_warehouse"


def lines_of(name: str) -> list[str]:
    """The lines of a file of queries that are no comments."""
    lines = Path(__file__).with_name(name).read_text().splitlines()
    return [line for line in lines if not line.startswith("--")]


BLANKS = "\u00a0\u2000\u200b\u202f\u205f\u2060\u3000\ufeff"
ATTACKS = [
    *lines_of("refused_queries.sql"),
    *(f"{blank}PRAGMA version" for blank in BLANKS),
    "SELECT 1;\u00a0IMPORT DATABASE '{folder}'",
]


@pytest.fixture(scope="module", params=["file", pytest.param("lake", marks=pytest.mark.slow)])
def connection(request, tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """What `vlm-loom sql` and notebooks read: a copy of a file, or the lake."""
    folder = tmp_path_factory.mktemp("tables")
    if request.param == "lake":
        made = made_lake(request.getfixturevalue("postgres"), folder).address
        address = LakeAddress(f"{made.catalogue}?password={PASSWORD}", made.files)
        Lake(address).replace(TABLE, answers("a", 3))
        reader = read_at(address, None)
    else:
        path = shutil.copy(request.getfixturevalue("empty_tables"), folder / "warehouse.duckdb")
        Warehouse(path).replace(TABLE, answers("a", 3))
        reader = read_copy(path)
    with reader as connection:
        yield connection


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_more_than_reading_the_tables_is_refused(connection, tmp_path, attack):
    (tmp_path / "x.csv").write_text("a\n1\n")
    text = attack.format(folder=tmp_path, table=TABLE, catalogue=CATALOGUE)
    with pytest.raises((UserError, duckdb.ParserException, duckdb.CatalogException)):
        require_query(connection, text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv"]


@pytest.mark.parametrize("query", [*lines_of("answered_queries.sql"), "-- a comment\nVALUES (1)"])
def test_a_query_is_answered(connection, query):
    text = query.replace("{table}", TABLE)
    require_query(connection, text)
    assert connection.sql(text).fetchall()


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("FROM read_text('/etc/passwd')", "function read_text is not available here: "),
        (f"FROM {TABLE}s", f"re is no table {TABLE}s; the nearest is {TABLE}"),
        ("SELECT '\ud800'", "query has a character that is not valid Unicode"),
        ("SELECT * FROM (" * 300 + "SELECT 1" + ")" * 300, "query has too many subqueries"),
    ],
    ids=["function", "table", "lone surrogate", "nested"],
)
def test_the_refusal_names_the_function_or_the_nearest_table(connection, query, why):
    with pytest.raises(QueryRefused, match=f"^The ?{why}"):
        require_query(connection, query)


def test_no_setting_and_no_address_of_the_connection_has_a_secret(connection):
    """Who got past the check would not see them, either."""
    for place in ("duckdb_databases()", "duckdb_settings()"):
        assert PASSWORD not in str(connection.execute(f"FROM {place}").fetchall())
    for setting, value in (("lock_configuration", True), ("enable_external_access", False)):
        assert connection.execute(f"SELECT current_setting('{setting}')").fetchall() == [(value,)]


def test_snapshots_of_a_file_are_refused_in_one_sentence(empty_tables):
    with read_copy(empty_tables) as connection:
        for name in ("ducklake_snapshots", "Ducklake_Snapshots"):
            with pytest.raises(
                QueryRefused, match="in a file, which keeps no snapshots: ask a lake"
            ):
                require_query(connection, f"FROM {name}('warehouse')")


@pytest.mark.slow
def test_a_table_is_arrow_or_a_frame_a_query_has_parameters_and_nothing_is_changed(empty_warehouse):
    folder = empty_warehouse.path.parent
    rows = [{"name": name, "release_id": f"{name}-1"} for name in ("mmdu", "mmiu")]
    table = pa.Table.from_pylist(rows, schema=arrow_schema("release.current"))
    empty_warehouse.replace("release.current", table)
    home = Home(folder)
    assert home.table("release.current").equals(table)
    assert home.table("release.current", "name").column_names == ["name"]
    assert home.frame("release.current")["release_id"].tolist() == ["mmdu-1", "mmiu-1"]
    found = home.sql("SELECT name FROM release.current WHERE release_id = $id", {"id": "mmdu-1"})
    assert found.to_pylist() == [{"name": "mmdu"}]
    assert {"evaluate.scores", "evaluate.leaderboard"} <= set(home.tables())
    with pytest.raises(UserError, match="The tables are read-only here"):
        home.sql(f"COPY release.current TO '{folder}/x.csv'")
    names = {path.name for path in folder.iterdir()}
    assert names == {"warehouse.duckdb", "warehouse.duckdb.lock"}


def test_another_name_is_refused_with_the_nearest_and_a_folder_that_is_not_there(empty_warehouse):
    home = Home(empty_warehouse.path.parent)
    for name, columns, said in (
        ("evaluate.score", (), r"^There is no table evaluate\.score; .*evaluate\.scores"),
        ("release.current", ("nam",), r"^release\.current has no column nam; .* is name"),
        ("x; DROP TABLE release.current", (), "^There is no table x; DROP"),
    ):
        with pytest.raises(WarehouseError, match=said):
            home.table(name, *columns)
    with pytest.raises(WarehouseError, match=r"^There is no folder .*absent: give the folder"):
        Home(empty_warehouse.path / "absent")
