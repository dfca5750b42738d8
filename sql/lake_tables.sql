-- The tables of a lake that have files.
SELECT t.schema_name, t.table_name
FROM duckdb_tables() AS t
JOIN ducklake_table_info('warehouse') AS i ON i.table_id = t.table_oid
WHERE t.database_name = 'warehouse' AND (i.file_count > 1 OR i.delete_file_count > 0)
ORDER BY t.schema_name, t.table_name;
