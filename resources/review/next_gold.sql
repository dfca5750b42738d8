-- A gold item that this person has neither decided nor skipped, in an order of their own; nor may they know
-- the item that it is a copy of.
SELECT g.item_id, 1 AS round, i.content_hash
FROM gold AS g
JOIN items AS i USING (item_id)
WHERE
    (CAST(:kind AS TEXT) IS NULL OR i.kind = :kind)
    AND replace(:full, ' ' || i.kind || ' ', '') = :full
    AND NOT EXISTS (
        SELECT 1 FROM events AS e
        WHERE e.item_id = g.of_item AND e.reviewer = :reviewer
    )
    AND NOT EXISTS (
        SELECT 1 FROM in_force AS e
        WHERE e.item_id = g.item_id AND e.reviewer = :reviewer
    )
ORDER BY substr(g.item_id, :step), g.item_id
LIMIT 1
