-- Items that somebody decided, as they are offered now, and the last decision on each.
SELECT i.kind, e.item_id, i.content_hash, i.withdrawn, count(*) AS n_decisions, max(e.event_id) AS last_event
FROM events AS e
LEFT JOIN items AS i USING (item_id)
GROUP BY e.item_id
ORDER BY e.item_id;
