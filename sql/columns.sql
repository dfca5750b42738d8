-- Every column of every table and view, in the order of its table.
SELECT schema_name || '.' || table_name AS table_name, column_name, data_type, is_nullable
FROM duckdb_columns()
WHERE database_name = current_database() AND NOT internal
ORDER BY table_name, column_index;
