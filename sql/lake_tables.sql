-- The tables of a lake.
SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'warehouse' ORDER BY ALL;
