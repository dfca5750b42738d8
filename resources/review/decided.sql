-- Items that somebody decided, as they are offered now, by whom, the last decision on each, and the last one that
-- was taken back.
SELECT
    i.kind, e.item_id, i.content_hash, i.withdrawn, count(*) AS n_decisions, max(e.event_id) AS last_event,
    max(r.revocation_id) AS last_revocation,
    (
        SELECT group_concat(o.reviewer, char(10))
        FROM (SELECT reviewer FROM events WHERE item_id = e.item_id ORDER BY event_id) AS o
    ) AS reviewers
FROM events AS e
LEFT JOIN items AS i USING (item_id)
LEFT JOIN revocations AS r USING (event_id)
GROUP BY e.item_id, i.kind, i.content_hash, i.withdrawn
ORDER BY e.item_id;
