-- Quoted names of the attached file's tables that have a generated column.
SELECT '"' || replace(schema_name, '"', '""') || '"."' || replace(table_name, '"', '""') || '"' AS "table"
FROM duckdb_tables()
WHERE database_name = 'restored' AND contains(sql, 'GENERATED ALWAYS AS(');
