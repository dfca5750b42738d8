-- Each check of every table of this database, and the columns of each key, in the order of their declaration.
SELECT
    schema_name || '.' || table_name AS table_name,
    expression,
    CASE WHEN constraint_type <> 'CHECK' THEN constraint_column_names END AS key
FROM duckdb_constraints()
WHERE database_name = current_database() AND constraint_type <> 'NOT NULL'
ORDER BY table_name, constraint_index;
