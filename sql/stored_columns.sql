-- Every table of the open file: its quoted name, and its stored columns, quoted, separated by commas.
-- DuckDB shows the expression of a generated column as its default.
SELECT
    '"' || replace(schema_name, '"', '""') || '"."' || replace(table_name, '"', '""') || '"' AS "table",
    string_agg('"' || replace(column_name, '"', '""') || '"', ', ') AS columns
FROM duckdb_columns() AS c
JOIN duckdb_tables() AS t USING (database_oid, schema_name, table_name)
WHERE
    database_oid = (SELECT database_oid FROM duckdb_databases() WHERE database_name = current_database())
    AND (column_default IS NULL OR NOT contains(t.sql, 'GENERATED ALWAYS AS('))
GROUP BY schema_name, table_name;
