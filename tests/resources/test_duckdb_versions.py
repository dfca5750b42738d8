"""A file of another DuckDB is named with both versions and the command that brings its tables over."""

import lzma
import re
import shlex
import subprocess
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from dagster_project.cli import main as loom
from resources.warehouse import Warehouse, WarehouseError
from resources.warehouse.file_errors import newer_duckdb_message
from tests.homes.kept import HOMES
from tests.resources.test_warehouse import TABLE, answers

OURS = duckdb.__version__


@pytest.fixture
def of_2_0(loom_home: Path) -> Path:
    """The warehouse of a home, as DuckDB 2.0.0 wrote it."""
    loom_home.mkdir()
    path = loom_home / "warehouse.duckdb"
    path.write_bytes(lzma.decompress((HOMES / "of-duckdb-2.0.0.duckdb.xz").read_bytes()))
    return path


def test_a_file_of_a_later_duckdb_is_kept_and_both_versions_are_named(of_2_0, capsys):
    before = of_2_0.read_bytes()
    with pytest.raises(WarehouseError) as refused:
        Warehouse(of_2_0).check()
    sentence = str(refused.value)
    assert f"was written by DuckDB 2.0.0, and DuckDB {OURS}" in sentence
    assert "Keep the file" in sentence and "duckdb==2.0.0" in sentence and "\n" not in sentence
    assert not re.search("damaged|remove|delete|restore", sentence)
    assert of_2_0.read_bytes() == before
    # Also one of which the writer cannot be read.
    unknown = newer_duckdb_message(Path(__file__), "version number 63")
    assert f"another version of DuckDB than {OURS}" in unknown and "keep the file" in unknown
    # Commands and pages say the same.
    assert loom(["release", "list"]) == 2
    assert "was written by DuckDB 2.0.0" in capsys.readouterr().err
    with pytest.raises(WarehouseError, match="was written by DuckDB 2.0.0"):
        Warehouse(of_2_0).snapshot_read("release/all", {})


def test_the_command_of_the_sentence_copies_every_row_and_rule(tmp_path: Path) -> None:
    """With this DuckDB as the one that wrote the file, in a folder with a name that shells read."""
    path = tmp_path / "it's $HOME" / "warehouse.duckdb"
    warehouse = Warehouse(path)
    warehouse.replace(TABLE, answers("a", 5))
    steps = newer_duckdb_message(path, "").partition("uses it: ")[2].split(" && ")
    assert [step.split()[0] for step in steps[2:]] == ["mv", "mv"]
    assert f"duckdb=={OURS}" in shlex.split(steps[0])

    subprocess.run(["sh", "-c", steps[1]], check=True)

    assert shlex.split(steps[3])[1:] == [f"{path}.{OURS}", str(path)]
    copy = Warehouse(f"{path}.{OURS}")
    assert copy.columns() == warehouse.columns()
    assert copy.select(TABLE, order="ALL") == warehouse.select(TABLE, order="ALL")
    for wrong in (answers("b", 1, ""), pa.concat_tables([answers("b", 1)] * 2)):
        with pytest.raises(WarehouseError, match="Constraint Error"):
            copy.replace(TABLE, wrong, {"set_id": "b"})
