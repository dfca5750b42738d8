"""Every column says what it means: in `sql/` and in Dagster's UI."""

import re
import subprocess
import sys
from pathlib import Path

import dagster as dg
import duckdb

from dagster_project.definitions import defs
from resources import warehouse_schema
from resources.warehouse import column_descriptions, declared_columns

COLUMNS = [(table, column) for table, of in declared_columns().items() for column, *_ in of]


def test_every_column_of_every_table_and_view_is_described_in_a_sentence() -> None:
    undescribed = [
        f"{table}.{column}"
        for table, column in COLUMNS
        if not re.fullmatch(r".{10,130}\.", column_descriptions(table)[column] or "")
    ]
    assert undescribed == [], "write them in sql/<stage>/comments.sql"


def test_each_comment_stands_in_the_file_of_its_stage_and_once() -> None:
    for stage in warehouse_schema.STAGES:
        said = re.findall(
            r'^COMMENT ON COLUMN (\w+)\."?(\w+)"?\.(\w+) IS ',
            warehouse_schema.sql_text(f"{stage}/comments"),
            re.MULTILINE,
        )
        assert {schema for schema, _, _ in said} == {stage}
        assert len(said) == len(set(said))


def test_duckdb_reads_them_as_they_are_read_here_each_of_a_column_that_exists() -> None:
    with duckdb.connect() as connection:
        connection.execute(warehouse_schema.schema_ddl() + warehouse_schema.views_ddl())
        connection.execute(warehouse_schema.comments_ddl())
        said = connection.sql(
            "SELECT schema_name || '.' || table_name, column_name, comment FROM duckdb_columns() "
            "WHERE database_name = current_database() AND NOT internal"
        ).fetchall()
    in_duckdb = {(table, column): comment for table, column, comment in said if "." in table}
    ours = {
        (table, column): description
        for table in declared_columns()
        for column, description in column_descriptions(table).items()
    }
    assert ours == {place: in_duckdb[place] for place in ours}
    assert set(ours) == {place for place, comment in in_duckdb.items() if comment}


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


def test_they_are_not_in_the_file_because_it_would_not_open_after_a_kill(tmp_path: Path) -> None:
    tables = warehouse_schema.schema_ddl() + warehouse_schema.views_ddl()
    assert opens_after_a_kill(tmp_path / "as_it_is.duckdb", tables)
    # When this fails DuckDB can do it, and its own prompt may show the descriptions, too.
    described = tables + warehouse_schema.comments_ddl()
    assert not opens_after_a_kill(tmp_path / "described.duckdb", described)


def test_the_ui_shows_them_in_the_list_of_an_assets_columns() -> None:
    for spec in defs.resolve_all_asset_specs():
        schema: dg.TableSchema = spec.metadata["dagster/column_schema"]
        table = spec.metadata["dagster/table_name"]
        assert {column.name: column.description for column in schema.columns} == (
            column_descriptions(table)
        )
