-- The items that two people or more decided in round 1 on what is queued now, the last ones first. The
-- whole item only where what is in it is rated; elsewhere the verdict alone is.
WITH twice AS (
    SELECT e.item_id, max(e.event_id) AS last_event
    FROM in_force AS e
    JOIN items AS i ON i.item_id = e.item_id AND i.content_hash = e.content_hash
    WHERE e.round = 1 AND e.verdict <> 'skip' AND i.withdrawn = 0
    GROUP BY e.item_id
    HAVING count(DISTINCT e.reviewer) > 1
    ORDER BY last_event DESC
    LIMIT :limit
)
SELECT
    i.item_id, i.kind, i.set_id, i.content_hash,
    CASE WHEN i.kind IN :labelled THEN c.item END AS item
FROM twice
JOIN items AS i USING (item_id)
JOIN item_contents AS c USING (item_id)
ORDER BY i.place
