"""Every column says what it means: in `sql/` and in Dagster's UI."""

import re
import tomllib
from typing import Any

import dagster as dg

from dagster_project.definitions import defs
from resources.warehouse import (
    SQL_ROOT,
    STAGES,
    column_descriptions,
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
    assert column_descriptions("evaluate.judge_quality") == column_descriptions("evaluate.findings")


def test_the_ui_shows_them_in_the_list_of_an_assets_columns() -> None:
    specs = [spec for spec in defs.resolve_all_asset_specs() if spec.key.path[-1] != "corpus_files"]
    for spec in specs:
        schema: dg.TableSchema = spec.metadata["dagster/column_schema"]
        table = spec.metadata["dagster/table_name"]
        assert {column.name: column.description for column in schema.columns} == (
            column_descriptions(table)
        )
