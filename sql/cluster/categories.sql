-- How many entries have each category.
SELECT category, count(*) AS n_entries
FROM (SELECT DISTINCT entry_id, unnest(categories) AS category FROM ingest.entries)
GROUP BY category
ORDER BY n_entries DESC, category;
