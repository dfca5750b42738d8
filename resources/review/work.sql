-- Every decision of people as figures need it, without its texts; those on gold items make no progress.
SELECT e.reviewer, coalesce(i.kind, '') AS kind, e.round, e.verdict, e.seconds, e.decided_at
FROM in_force AS e
LEFT JOIN items AS i USING (item_id)
WHERE e.item_id NOT IN (SELECT item_id FROM gold)
ORDER BY e.event_id
