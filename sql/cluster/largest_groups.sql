-- The largest groups, each with the title of its centre's page and its share of all grouped entries.
SELECT
    c.group_id,
    any_value(e.title) AS title,
    count(DISTINCT c.entry_id) AS size,
    size / sum(size) OVER () AS share
FROM cluster.clusters AS c
LEFT JOIN ingest.entries AS e ON e.entry_id = c.group_centre
WHERE c.group_id IS NOT NULL
GROUP BY c.group_id
ORDER BY size DESC, c.group_id
LIMIT $n_rows;
