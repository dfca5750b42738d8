-- The first item that is assigned to this person in the round and that needs more people than have locked it.
SELECT s.item_id, s.round, s.content_hash
FROM assigned AS a
JOIN standings AS s USING (item_id)
WHERE
    a.annotator = :reviewer
    AND a.round = :round
    AND a.progress = 'open'
    AND (CAST(:kind AS TEXT) IS NULL OR s.kind = :kind)
    AND replace(:full, ' ' || s.kind || ' ', '') = :full
    AND s.people > (
        SELECT count(*) FROM locks AS l
        WHERE
            l.item_id = s.item_id
            AND l.round = s.round
            AND l.content_hash = s.content_hash
            AND l.annotator <> :reviewer
            AND l.expires_at > :now
    )
ORDER BY a.priority, a.place
LIMIT 1
