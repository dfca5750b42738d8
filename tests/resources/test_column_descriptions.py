"""Every column says what it means: in `sql/` and in Dagster's UI."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import dagster as dg
import duckdb
import pytest

from dagster_project.definitions import defs
from resources.warehouse import (
    SQL_ROOT,
    STAGES,
    column_descriptions,
    declarations,
    declared_columns,
)

COLUMNS = [(table, column) for table, of in declared_columns().items() for column, *_ in of]


def test_every_column_of_every_table_and_view_is_described_in_a_sentence() -> None:
    undescribed = [
        f"{table}.{column}"
        for table, column in COLUMNS
        if not re.fullmatch(r".{10,130}\.", column_descriptions(table)[column] or "")
    ]
    assert undescribed == [], "write them in sql/<stage>/fields.toml, or in sql/fields.toml"


def test_each_text_is_of_columns_that_exist_and_replaces_none_by_the_same() -> None:
    shared = fields("fields.toml")
    stages = {
        name: {table.partition(".")[0] for table, of in COLUMNS if of == name} for name in shared
    }
    assert [name for name in shared if len(stages[name]) < 2] == [], "it is of one stage"
    for stage in STAGES:
        said = fields(f"{stage}/fields.toml")
        there = [(table, column) for table, column in COLUMNS if table.startswith(f"{stage}.")]
        of_stage = {name: text for name, text in said.items() if isinstance(text, str)}
        of_tables = [(table, *of) for table in said.keys() - of_stage for of in said[table].items()]

        assert of_stage.keys() - {column for _, column in there} == set()
        assert {(table, column) for table, column, _ in of_tables} - set(there) == set()
        instead_of = {**shared, **of_stage}
        assert [name for name in of_stage if shared.get(name) == of_stage[name]] == []
        assert [each for each in of_tables if each[2] == instead_of.get(each[1])] == []


def fields(name: str) -> dict[str, Any]:
    return tomllib.loads((SQL_ROOT / name).read_text(encoding="utf-8"))


def test_a_table_has_its_own_text_before_that_of_its_stage_and_that_before_that_of_all() -> None:
    assert column_descriptions("cluster.clusters")["image_id"] == "Image, as SHA-256 of its file."
    assert column_descriptions("cluster.map")["x"] == "Horizontal place on the map, without a unit."
    own, other = (column_descriptions(f"cluster.{table}") for table in ("clusters", "cohesion"))
    assert own["group_id"] == "Group of the entry, by categories; NULL if it is in none."
    assert other["group_id"] == "Group that the cluster is part of; NULL for a group."


def test_a_view_of_findings_has_their_texts() -> None:
    assert column_descriptions("evaluate.judge_quality") == column_descriptions("evaluate.findings")


def opens_after_a_kill(path: Path, ddl: str) -> bool:
    """Whether a new file opens whose writer was killed after its commit, before anything else."""
    killed = (
        "import duckdb, os, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.begin()\n"
        "connection.execute(sys.stdin.read())\n"
        "connection.commit()\n"
        "os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", killed, str(path)], input=ddl, text=True)
    assert done.returncode == 9
    try:
        duckdb.connect(str(path)).close()
    except duckdb.Error:
        return False
    return True


@pytest.mark.slow
def test_they_are_not_in_the_file_because_it_would_not_open_after_a_kill(tmp_path: Path) -> None:
    tables = declarations.schema_ddl() + declarations.views_ddl()
    assert opens_after_a_kill(tmp_path / "as_it_is.duckdb", tables)
    # When this fails DuckDB can do it, and its own prompt may show the descriptions, too.
    said = (
        f'COMMENT ON COLUMN {stage}."{name}"."{column}" IS $said${text}$said$;'
        for stage, name in (table.split(".") for table in dict(COLUMNS))
        for column, text in column_descriptions(f"{stage}.{name}").items()
    )
    described = tables + "".join(said)
    assert not opens_after_a_kill(tmp_path / "described.duckdb", described)


def test_the_ui_shows_them_in_the_list_of_an_assets_columns() -> None:
    specs = [spec for spec in defs.resolve_all_asset_specs() if spec.key.path[-1] != "corpus_files"]
    for spec in specs:
        schema: dg.TableSchema = spec.metadata["dagster/column_schema"]
        table = spec.metadata["dagster/table_name"]
        assert {column.name: column.description for column in schema.columns} == (
            column_descriptions(table)
        )
