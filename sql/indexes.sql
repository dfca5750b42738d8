-- The indexes that somebody made on tables of the stages; those of keys have no declaration.
SELECT index_name, schema_name || '.' || table_name AS table_name, sql
FROM duckdb_indexes()
WHERE database_name = current_database() AND list_contains($stages, schema_name) AND sql IS NOT NULL
ORDER BY table_name, index_name;
