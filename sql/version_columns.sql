-- The columns of the table that says which version this file has; none in a file to be made.
SELECT column_name, data_type
FROM duckdb_columns()
WHERE database_name = current_database() AND schema_name = 'main' AND table_name = 'schema_version'
ORDER BY column_index;
