"""The tables of a home in a notebook: as they are, on a copy, and never changed."""

import shutil
from pathlib import Path

import duckdb
import pytest

from resources.notebook import Home
from resources.warehouse import Warehouse, WarehouseError


@pytest.fixture
def folder(empty_warehouse: Warehouse, tmp_path: Path) -> Path:
    shutil.copyfile(empty_warehouse.path, tmp_path / "warehouse.duckdb")
    return tmp_path


def test_a_table_is_read_while_another_transaction_has_it_open(folder: Path) -> None:
    import pyarrow as pa

    from resources.warehouse import arrow_schema

    home, warehouse = Home(folder), Warehouse(folder / "warehouse.duckdb")
    rows = [{"name": "mmdu", "release_id": "mmdu-1"}]
    warehouse.replace(
        "release.current", pa.Table.from_pylist(rows, schema=arrow_schema("release.current"))
    )
    assert home.table("release.current").to_pylist() == rows
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
        (
            "release.current",
            ("nam",),
            r"^release\.current has no column nam; the nearest is name\.$",
        ),
        ("x; DROP TABLE release.current", (), "^There is no table x; DROP"),
    ],
)
def test_another_name_is_refused_with_the_nearest(
    folder: Path, name: str, columns: tuple[str, ...], said: str
) -> None:
    with pytest.raises(WarehouseError, match=said):
        Home(folder).table(name, *columns)


def test_nothing_is_changed_and_no_other_file_reached(folder: Path) -> None:
    before = (folder / "warehouse.duckdb").read_bytes()
    for query in ("DELETE FROM release.current", f"COPY release.current TO '{folder}/x.csv'"):
        with pytest.raises(duckdb.Error):
            Home(folder).sql(query)
    assert (folder / "warehouse.duckdb").read_bytes() == before


def test_a_folder_without_tables_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match=r"^There are no tables yet: run `vlm-loom demo`"):
        Home(tmp_path).table("evaluate.scores")
