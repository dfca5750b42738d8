-- Decisions on items, as these are queued now, with the number of their revocation.
SELECT e.item_id, i.kind, i.content_hash, i.withdrawn, e.reviewer, e.event_id, r.revocation_id
FROM events AS e
LEFT JOIN items AS i USING (item_id)
LEFT JOIN revocations AS r USING (event_id)
ORDER BY e.item_id, e.event_id
