-- The first item with a status that this person may decide and that needs more people than have locked it.
-- Those to whom it is assigned have their place kept, unless `any`. In `full` kinds stand between blanks.
SELECT s.item_id, s.round, s.content_hash
FROM standings AS s
WHERE
    s.status = :status
    AND (:any OR s.unreserved > 0)
    AND (CAST(:kind AS TEXT) IS NULL OR s.kind = :kind)
    AND replace(:full, ' ' || s.kind || ' ', '') = :full
    AND NOT EXISTS (
        SELECT 1 FROM bars AS b WHERE b.item_id = s.item_id AND b.annotator = :reviewer
    )
    AND CASE WHEN :any THEN s.people ELSE s.unreserved END > (
        SELECT count(*) FROM locks AS l
        WHERE
            l.item_id = s.item_id
            AND l.round = s.round
            AND l.content_hash = s.content_hash
            AND l.annotator <> :reviewer
            AND l.expires_at > :now
            AND (:any OR NOT EXISTS (
                SELECT 1 FROM assigned AS a
                WHERE
                    a.item_id = l.item_id
                    AND a.annotator = l.annotator
                    AND a.round = l.round
                    AND a.progress = 'open'
            ))
    )
ORDER BY s.priority, s.place
LIMIT 1
