-- Keys and checks of every table of this database, in the order of their declaration.
SELECT
    schema_name || '.' || table_name AS table_name, constraint_type, expression, constraint_column_names
FROM duckdb_constraints()
WHERE database_name = current_database() AND constraint_type <> 'NOT NULL'
ORDER BY table_name, constraint_index;
