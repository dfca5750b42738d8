-- Items that an expert decided and that are no gold yet, the last decided first.
SELECT s.item_id
FROM standings AS s
JOIN (
    SELECT item_id, max(event_id) AS last_event FROM in_force
    WHERE round = 2 AND verdict <> 'skip' GROUP BY item_id
) AS e USING (item_id)
WHERE
    s.status IN ('approved', 'rejected')
    AND s.item_id NOT IN (SELECT of_item FROM gold)
ORDER BY e.last_event DESC
