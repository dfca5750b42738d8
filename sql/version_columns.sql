-- The columns of the table that says which version this file has; none in a file to be made. A view of
-- that name does not count.
SELECT column_name, data_type
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main' AND table_name = 'schema_version'
    AND table_oid IN (SELECT table_oid FROM duckdb_tables())
ORDER BY column_index;
