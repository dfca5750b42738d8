-- Entries that no benchmark may use, by the reason.
SELECT CASE WHEN side = 'instruction' THEN 'on the side of instruction sets' ELSE reason END AS reason, count(*) AS n
FROM cluster.entry_sides
WHERE side IS DISTINCT FROM 'benchmark'
GROUP BY ALL
ORDER BY ALL;
