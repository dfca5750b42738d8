-- Answered by `resources/warehouse/query_check.py`, one on a line.
SELECT count(*) FROM {table}
FROM DIALOGUE.ANSWERS LIMIT 1
FROM warehouse.{table} LIMIT 1
WITH few AS (FROM {table}) SELECT few.*, row_number() OVER () FROM few
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 9) FROM n
DESCRIBE {table}
SUMMARIZE {table}
SHOW ALL TABLES
EXPLAIN ANALYZE SELECT * FROM {table}
PIVOT {table} ON set_id IN ('a', 'b') USING count(*)
SELECT set_id, list(answer)[1], max(length(answer)) FROM {table} GROUP BY ALL
SELECT unnest([1, 2]) AS i, {'a': 1}.a, 'x' LIKE '%', extract(year FROM current_date)
FROM information_schema.tables LIMIT 1
SELECT name FROM (SELECT table_name AS name FROM duckdb_tables()) LIMIT 1
SELECT 'a; PRAGMA b' AS pragma, $$;IMPORT$$ AS import -- ; PRAGMA c
