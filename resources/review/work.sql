-- Every decision of people as figures need it, without its texts.
SELECT e.reviewer, coalesce(i.kind, '') AS kind, e.round, e.verdict, e.seconds, e.decided_at
FROM events AS e
LEFT JOIN items AS i USING (item_id)
ORDER BY e.event_id
