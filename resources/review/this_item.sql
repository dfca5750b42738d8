-- The item asked for, if this person may decide it and it needs more people than have locked it. Who it is
-- assigned to has a place kept, unless `any`. A rejected item needs nobody, and one person may lock it all
-- the same.
SELECT s.item_id, s.round, s.content_hash
FROM standings AS s
WHERE
    s.item_id = :item_id
    AND s.round = :round
    AND (CAST(:kind AS TEXT) IS NULL OR s.kind = :kind)
    AND replace(:full, ' ' || s.kind || ' ', '') = :full
    AND NOT EXISTS (
        SELECT 1 FROM bars AS b WHERE b.item_id = s.item_id AND b.annotator = :reviewer
    )
    AND (
        :any OR s.status = 'rejected' OR s.unreserved > 0 OR EXISTS (
            SELECT 1 FROM assigned AS a
            WHERE
                a.item_id = s.item_id AND a.annotator = :reviewer AND a.round = s.round
                AND a.progress = 'open'
        )
    )
    AND CASE WHEN s.people > 1 THEN s.people ELSE 1 END > (
        SELECT count(*) FROM locks AS l
        WHERE
            l.item_id = s.item_id
            AND l.round = s.round
            AND l.content_hash = s.content_hash
            AND l.annotator <> :reviewer
            AND l.expires_at > :now
    )
