-- Refused by `resources/warehouse/query_check.py`, one text on a line.
-- What writes, or reaches other databases and files, as a statement.
DELETE FROM {table}
WITH gone AS (DELETE FROM {table} RETURNING *) FROM gone
EXPLAIN ANALYZE DELETE FROM {table}
EXPLAIN ANALYZE EXPLAIN ANALYZE DELETE FROM {table}
CREATE TEMP TABLE mine AS SELECT 1
COPY (SELECT 1) TO '{folder}/x.parquet'
ATTACH '{folder}/other.duckdb' AS other
SET allowed_directories = ['/']
INSTALL httpfs
PRAGMA database_list
-- What DuckDB does while it splits a text into statements.
PRAGMA json_execute_serialized_sql(current_setting('memory_limit'))
SELECT 1 /* é */; /* ; */ pragma json_execute_serialized_sql(current_setting('memory_limit'))
IMPORT DATABASE '{folder}'
CHECKPOINT
CREATE SECRET mine (TYPE s3)
SELECT 1; SELECT 2
-- Functions of extensions: the catalogue's Postgres, the files of the lake.
CALL postgres_execute('{catalogue}', 'CREATE TABLE evil (a int)')
FROM postgres_execute('{catalogue}', 'CREATE TABLE evil (a int)')
FROM postgres_query('{catalogue}', 'SELECT 1')
FROM postgres_scan('', 'public', 'accounts')
CALL ducklake_cleanup_old_files('warehouse', cleanup_all => true)
FROM ducklake_expire_snapshots('warehouse', older_than => now())
SELECT (SELECT count(*) FROM ducklake_delete_orphaned_files('warehouse', cleanup_all => true))
FROM {catalogue}.public.accounts
-- Files.
FROM read_text('/etc/passwd')
FROM '{folder}/lake/main.parquet'
DESCRIBE SELECT * FROM read_csv('{folder}/x.csv')
FROM glob('/etc/*')
FROM parquet_metadata('{folder}/lake/*')
WITH "{folder}/x.csv" AS (FROM "{folder}/x.csv") FROM "{folder}/x.csv"
-- SQL in a text, which this check would not see.
FROM query('SELECT 1')
FROM query_table('duckdb_settings')
FROM histogram_values('duckdb_settings', 'name')
FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))
PRAGMA json_execute_serialized_sql('{{}}')
SELECT json_serialize_plan('FROM read_text(''/etc/passwd'')')
-- Settings, addresses, secrets, the environment.
SELECT current_setting('s3_secret_access_key')
SELECT 's3_secret_access_key'.current_setting()
SELECT pg_catalog.current_setting('home_directory')
FROM duckdb_settings()
FROM duckdb_databases
FROM pg_catalog.pg_settings
FROM duckdb_secrets(redact => false)
WITH duckdb_databases AS (FROM duckdb_databases) FROM duckdb_databases
SELECT getenv('HOME')
SELECT txid_current()
FROM duckdb_logs
