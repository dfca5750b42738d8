-- Every view and macro of the open database: its kind as DROP names it, its quoted name, its SQL.
SELECT 'VIEW' AS kind, '"' || replace(schema_name, '"', '""') || '"."' || replace(view_name, '"', '""') || '"' AS name, sql
FROM duckdb_views()
WHERE database_name = current_database() AND NOT internal
UNION ALL
SELECT
    CASE function_type WHEN 'table_macro' THEN 'MACRO TABLE' ELSE 'MACRO' END,
    '"' || replace(schema_name, '"', '""') || '"."' || replace(function_name, '"', '""') || '"',
    string_agg(macro_definition, '; ' ORDER BY macro_definition)
FROM duckdb_functions()
WHERE database_name = current_database() AND NOT internal AND function_type IN ('macro', 'table_macro')
GROUP BY ALL
ORDER BY kind, name;
