"""SQL that a person types reads the tables of a file or a lake, and does nothing else."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from methods.errors import UserError
from resources.notebook import read_copy
from resources.warehouse import Warehouse
from resources.warehouse.lake import Lake, read_at
from resources.warehouse.lake_connection import LakeAddress
from resources.warehouse.query_check import QueryRefused, require_query
from tests.lakes import made_lake
from tests.resources.test_warehouse import TABLE, answers

PASSWORD = "pgs3cret"
CATALOGUE = "__ducklake_metadata_warehouse"

ATTACKS = [
    # What writes, or reaches other databases and files, as a statement.
    f"DELETE FROM {TABLE}",
    f"WITH gone AS (DELETE FROM {TABLE} RETURNING *) FROM gone",
    f"EXPLAIN ANALYZE DELETE FROM {TABLE}",
    f"EXPLAIN ANALYZE EXPLAIN ANALYZE DELETE FROM {TABLE}",
    "CREATE TEMP TABLE mine AS SELECT 1",
    "COPY (SELECT 1) TO '{folder}/x.parquet'",
    "ATTACH '{folder}/other.duckdb' AS other",
    "SET allowed_directories = ['/']",
    "INSTALL httpfs",
    "PRAGMA database_list",
    # What DuckDB does while it splits a text into statements.
    "PRAGMA json_execute_serialized_sql(current_setting('memory_limit'))",
    "SELECT 1 /* é */; /* ; */ pragma json_execute_serialized_sql(current_setting('memory_limit'))",
    "IMPORT DATABASE '{folder}'",
    *(f"{blank}PRAGMA version" for blank in "\u00a0\u2000\u200b\u202f\u205f\u2060\u3000\ufeff"),
    "SELECT 1;\u00a0IMPORT DATABASE '{folder}'",
    "CHECKPOINT",
    "CREATE SECRET mine (TYPE s3)",
    "SELECT 1; SELECT 2",
    # Functions of extensions: the catalogue's Postgres, the files of the lake.
    f"CALL postgres_execute('{CATALOGUE}', 'CREATE TABLE evil (a int)')",
    f"FROM postgres_execute('{CATALOGUE}', 'CREATE TABLE evil (a int)')",
    f"FROM postgres_query('{CATALOGUE}', 'SELECT 1')",
    "FROM postgres_scan('', 'public', 'accounts')",
    "CALL ducklake_cleanup_old_files('warehouse', cleanup_all => true)",
    "FROM ducklake_expire_snapshots('warehouse', older_than => now())",
    "SELECT (SELECT count(*) FROM ducklake_delete_orphaned_files('warehouse', cleanup_all => true))",
    f"FROM {CATALOGUE}.public.accounts",
    # Files.
    "FROM read_text('/etc/passwd')",
    "FROM '{folder}/lake/main.parquet'",
    "DESCRIBE SELECT * FROM read_csv('{folder}/x.csv')",
    "FROM glob('/etc/*')",
    "FROM parquet_metadata('{folder}/lake/*')",
    'WITH "{folder}/x.csv" AS (FROM "{folder}/x.csv") FROM "{folder}/x.csv"',
    # SQL in a text, which this check would not see.
    "FROM query('SELECT 1')",
    "FROM query_table('duckdb_settings')",
    "FROM histogram_values('duckdb_settings', 'name')",
    "FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
    "PRAGMA json_execute_serialized_sql('{{}}')",
    "SELECT json_serialize_plan('FROM read_text(''/etc/passwd'')')",
    # Settings, addresses, secrets, the environment.
    "SELECT current_setting('s3_secret_access_key')",
    "SELECT 's3_secret_access_key'.current_setting()",
    "SELECT pg_catalog.current_setting('home_directory')",
    "FROM duckdb_settings()",
    "FROM duckdb_databases",
    "FROM pg_catalog.pg_settings",
    "FROM duckdb_secrets(redact => false)",
    "WITH duckdb_databases AS (FROM duckdb_databases) FROM duckdb_databases",
    "SELECT getenv('HOME')",
    "SELECT txid_current()",
    "FROM duckdb_logs",
]


@pytest.fixture(scope="module", params=["file", pytest.param("lake", marks=pytest.mark.slow)])
def connection(request, tmp_path_factory) -> Iterator[duckdb.DuckDBPyConnection]:
    """What `vlm-loom sql` and notebooks read: a copy of a file, or the lake."""
    folder = tmp_path_factory.mktemp("tables")
    if request.param == "lake":
        made = made_lake(request.getfixturevalue("postgres"), folder).address
        lake = Lake(LakeAddress(f"{made.catalogue}?password={PASSWORD}", made.files))
        lake.replace(TABLE, answers("a", 3))
        with read_at(lake.address, None) as reading:
            yield reading
        return
    path = Path(shutil.copy(request.getfixturevalue("empty_tables"), folder / "warehouse.duckdb"))
    warehouse = Warehouse(path)
    warehouse.replace(TABLE, answers("a", 3))
    with read_copy(warehouse.path) as reading:
        yield reading


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_is_more_than_reading_the_tables_is_refused(connection, tmp_path, attack):
    (tmp_path / "x.csv").write_text("a\n1\n")
    text = attack.format(folder=tmp_path)
    with pytest.raises((UserError, duckdb.ParserException, duckdb.CatalogException)):
        require_query(connection, text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.csv"]


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT count(*) FROM {TABLE}",
        f"FROM {TABLE.upper()} LIMIT 1",
        f"FROM warehouse.{TABLE} LIMIT 1",
        f"WITH few AS (FROM {TABLE}) SELECT few.*, row_number() OVER () FROM few",
        "WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) FROM n",
        f"DESCRIBE {TABLE}",
        f"SUMMARIZE {TABLE}",
        "SHOW ALL TABLES",
        f"EXPLAIN ANALYZE SELECT * FROM {TABLE}",
        f"PIVOT {TABLE} ON set_id IN ('a', 'b') USING count(*)",
        f"SELECT set_id, list(answer)[1], max(length(answer)) FROM {TABLE} GROUP BY ALL",
        "SELECT unnest([1, 2]) AS i, {'a': 1}.a, 'x' LIKE '%', extract(year FROM current_date)",
        "FROM information_schema.tables LIMIT 1",
        "SELECT name FROM (SELECT table_name AS name FROM duckdb_tables()) LIMIT 1",
        "-- a comment\nVALUES (1)",
        "SELECT 'a; PRAGMA b' AS pragma, $$;IMPORT$$ AS import -- ; PRAGMA c",
    ],
)
def test_a_query_is_answered(connection, query):
    require_query(connection, query)
    assert connection.sql(query).fetchall()


def test_the_refusal_names_the_function_or_the_nearest_table(connection):
    with pytest.raises(QueryRefused, match=r"^The function read_text is not available here: "):
        require_query(connection, "FROM read_text('/etc/passwd')")
    with pytest.raises(QueryRefused, match=rf"^There is no table {TABLE}s; the nearest is {TABLE}"):
        require_query(connection, f"FROM {TABLE}s")


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("SELECT '\ud800'", "has a character that is not valid Unicode"),
        ("SELECT * FROM (" * 300 + "SELECT 1" + ")" * 300, "has too many subqueries"),
    ],
    ids=["lone surrogate", "nested"],
)
def test_a_query_that_cannot_be_checked_is_refused_in_words_about_the_query(connection, query, why):
    with pytest.raises(QueryRefused, match=f"^The query {why}"):
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
