"""The tables of a home in a notebook: as they are, on a copy, and never changed."""

from pathlib import Path

import pyarrow as pa
import pytest

from methods.errors import UserError
from resources.notebook import Home
from resources.warehouse import Warehouse, WarehouseError, arrow_schema

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(empty_warehouse: Warehouse) -> Path:
    return empty_warehouse.path.parent


def current(name: str) -> pa.Table:
    rows = [{"name": name, "release_id": "mmdu-1"}]
    return pa.Table.from_pylist(rows, schema=arrow_schema("release.current"))


def test_a_table_is_arrow_or_a_frame_and_a_query_has_parameters(folder):
    home, warehouse = Home(folder), Warehouse(folder / "warehouse.duckdb")
    warehouse.replace("release.current", current("mmdu"))
    assert home.table("release.current").equals(current("mmdu"))
    assert home.table("release.current", "name").column_names == ["name"]
    assert home.frame("release.current")["release_id"].tolist() == ["mmdu-1"]
    found = home.sql("SELECT name FROM release.current WHERE release_id = $id", {"id": "mmdu-1"})
    assert found.to_pylist() == [{"name": "mmdu"}]
    assert {"evaluate.scores", "evaluate.leaderboard"} <= set(home.tables())
    assert sorted(path.name for path in folder.iterdir()) == [
        *("warehouse.duckdb", "warehouse.duckdb.lock"),
    ]


@pytest.mark.parametrize(
    ("name", "columns", "said"),
    [
        (
            "evaluate.score",
            (),
            r"^There is no table evaluate\.score; the nearest .*evaluate\.scores",
        ),
        ("release.current", ("nam",), r"^release\.current has no column nam; the nearest is name"),
        ("x; DROP TABLE release.current", (), "^There is no table x; DROP"),
    ],
)
def test_another_name_is_refused_with_the_nearest(folder, name, columns, said):
    with pytest.raises(WarehouseError, match=said):
        Home(folder).table(name, *columns)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(WarehouseError, match=r"^There is no folder .*absent: give the folder"):
        Home(tmp_path / "absent")


def test_nothing_is_changed_and_no_other_file_reached(folder):
    with pytest.raises(UserError, match="The tables are read-only here"):
        Home(folder).sql(f"COPY release.current TO '{folder}/x.csv'")
    assert not (folder / "x.csv").exists()
