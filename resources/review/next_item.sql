-- The first item at a status that awaits this person and that not enough others hold.
SELECT s.item_id, s.round, s.content_hash
FROM standings AS s
WHERE
    s.status = :status
    AND (:kind IS NULL OR s.kind = :kind)
    AND s.kind NOT IN (SELECT value FROM json_each(:full))
    AND NOT EXISTS (
        SELECT 1 FROM bars AS b WHERE b.item_id = s.item_id AND b.annotator = :annotator
    )
    AND s.people > (
        SELECT count(*) FROM locks AS l
        WHERE
            l.item_id = s.item_id
            AND l.round = s.round
            AND l.content_hash = s.content_hash
            AND l.annotator <> :annotator
            AND l.expires_at > :now
    )
ORDER BY s.place
LIMIT 1
