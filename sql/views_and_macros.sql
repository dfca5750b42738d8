-- Every view and macro of the attached file: its kind as DROP names it, and its quoted name.
SELECT 'VIEW' AS kind, '"' || replace(schema_name, '"', '""') || '"."' || replace(view_name, '"', '""') || '"' AS name
FROM duckdb_views()
WHERE database_name = 'restored' AND NOT internal
UNION
SELECT
    CASE function_type WHEN 'table_macro' THEN 'MACRO TABLE' ELSE 'MACRO' END,
    '"' || replace(schema_name, '"', '""') || '"."' || replace(function_name, '"', '""') || '"'
FROM duckdb_functions()
WHERE database_name = 'restored' AND NOT internal AND function_type IN ('macro', 'table_macro')
ORDER BY kind, name;
