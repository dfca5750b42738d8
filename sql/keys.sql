-- The columns of each key of every table of this database that has keys or checks, in the order of their
-- declaration.
SELECT
    schema_name || '.' || table_name AS table_name,
    coalesce(
        list(constraint_column_names ORDER BY constraint_index)
            FILTER (WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE')),
        []
    ) AS keys
FROM duckdb_constraints()
WHERE database_name = current_database() AND constraint_type <> 'NOT NULL'
GROUP BY ALL
ORDER BY table_name;
