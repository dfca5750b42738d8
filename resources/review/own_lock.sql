-- The person's own unexpired lock: on the item asked for, or on any item of the kind.
SELECT l.token, l.item_id, l.annotator, l.round, l.content_hash
FROM locks AS l
JOIN standings AS s USING (item_id, round, content_hash)
WHERE
    l.annotator = :reviewer
    AND l.round = :round
    AND l.expires_at > :now
    AND (:item_id IS NULL OR l.item_id = :item_id)
    AND (:kind IS NULL OR s.kind = :kind)
ORDER BY s.place
LIMIT 1
