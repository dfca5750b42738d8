-- Statements that make empty tables like those of this file in another one, with the indexes that
-- somebody made; those of keys have no declaration. A view has its name alone.
SELECT declared, index_name, table_name
FROM (
    SELECT
        1 AS place, 'CREATE SCHEMA IF NOT EXISTS "' || schema_name || '";' AS declared, NULL AS index_name,
        schema_name AS table_name
    FROM duckdb_schemas()
    WHERE database_name = current_database() AND list_contains($stages, schema_name)
    UNION ALL
    SELECT 2, sql, NULL, schema_name || '.' || table_name
    FROM duckdb_tables()
    WHERE database_name = current_database() AND list_contains($stages, schema_name)
    UNION ALL
    SELECT
        3, 'CREATE VIEW "' || schema_name || '"."' || view_name || '" AS SELECT NULL AS nothing;', NULL,
        schema_name || '.' || view_name
    FROM duckdb_views()
    WHERE database_name = current_database() AND list_contains($stages, schema_name)
    UNION ALL
    SELECT 4, sql, index_name, schema_name || '.' || table_name
    FROM duckdb_indexes()
    WHERE database_name = current_database() AND list_contains($stages, schema_name) AND sql IS NOT NULL
)
ORDER BY place, table_name, index_name;
