-- Entries that no benchmark may use, by the reason.
SELECT CASE WHEN split = 'instruction' THEN 'in the instruction split' ELSE reason END AS reason, count(*) AS n
FROM cluster.entry_splits
WHERE split IS DISTINCT FROM 'benchmark'
GROUP BY ALL
ORDER BY ALL;
