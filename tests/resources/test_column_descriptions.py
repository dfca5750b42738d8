"""Every column says what it means: in `sql/` and in Dagster's UI."""

import re

import dagster as dg

from dagster_project.definitions import defs
from resources.warehouse import column_descriptions, declared_columns


def test_every_column_of_every_table_and_view_is_described_in_a_sentence() -> None:
    undescribed = [
        f"{table}.{column}"
        for table, columns in declared_columns().items()
        for column, *_ in columns
        if not re.fullmatch(r".{10,130}\.", column_descriptions(table)[column] or "")
    ]
    assert undescribed == [], "write them in sql/<stage>/fields.toml, or in sql/fields.toml"


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
