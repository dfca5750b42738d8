-- The assignments that have not ended, in the order they were made, each with what became of its items.
SELECT
    m.assignment_id, m.annotator, m.round, m.kind, m.bucket, m.start, m.share, m.made_by, m.made_at,
    count(*) FILTER (WHERE a.progress = 'open') AS n_open,
    count(*) FILTER (WHERE a.progress = 'done') AS n_done,
    count(*) FILTER (WHERE a.progress = 'waiting') AS n_waiting
FROM assignments AS m
LEFT JOIN assigned AS a USING (assignment_id)
WHERE m.ends IS NULL AND m.assignment_id NOT IN (SELECT ends FROM assignments WHERE ends IS NOT NULL)
GROUP BY m.assignment_id
ORDER BY m.assignment_id
