-- What the choice of an item for a person begins with: the rules, whether items are assigned to them in the round,
-- done ones among them, whether any item is to be reworked, and their own unexpired lock, on the item asked for or
-- on any item of the kind.
SELECT
    r.rules,
    EXISTS (
        SELECT 1 FROM assigned WHERE annotator = :reviewer AND round = :round
    ) AS has_assigned,
    EXISTS (SELECT 1 FROM standings WHERE status = 'to_rework') AS has_rework,
    o.token, o.item_id, o.round, o.content_hash
FROM (SELECT max(rules) AS rules FROM rules) AS r
LEFT JOIN (
    SELECT l.token, l.item_id, l.round, l.content_hash
    FROM locks AS l
    LEFT JOIN standings AS s USING (item_id, round, content_hash)
    LEFT JOIN gold AS g USING (item_id)
    LEFT JOIN items AS i USING (item_id)
    WHERE
        l.annotator = :reviewer
        AND l.round = :round
        AND l.expires_at > :now
        AND (CAST(:item_id AS TEXT) IS NULL OR l.item_id = :item_id)
        AND (CAST(:kind AS TEXT) IS NULL OR i.kind = :kind)
        AND (s.item_id IS NOT NULL OR g.item_id IS NOT NULL)
    ORDER BY s.place NULLS FIRST
    LIMIT 1
) AS o ON 1 = 1
