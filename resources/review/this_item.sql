-- The item asked for, if it awaits this person and not enough others hold it. What is rejected awaits
-- nobody, and one person may take it up.
SELECT s.item_id, s.round, s.content_hash
FROM standings AS s
WHERE
    s.item_id = :item_id
    AND s.round = :round
    AND (:kind IS NULL OR s.kind = :kind)
    AND s.kind NOT IN (SELECT value FROM json_each(:full))
    AND NOT EXISTS (
        SELECT 1 FROM bars AS b WHERE b.item_id = s.item_id AND b.annotator = :annotator
    )
    AND max(s.people, 1) > (
        SELECT count(*) FROM locks AS l
        WHERE
            l.item_id = s.item_id
            AND l.round = s.round
            AND l.content_hash = s.content_hash
            AND l.annotator <> :annotator
            AND l.expires_at > :now
    )
