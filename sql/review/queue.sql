-- The review queue, in a fixed order: first what the checks want people to look at. A pair that is dropped
-- leaves an instruction set by itself; in a benchmark it is for people to decide.
SELECT q.item_id, q.kind, q.set_id, q.content, q.content_hash, q.context, q.image_ids
FROM review.queue AS q
LEFT JOIN (
    SELECT DISTINCT dialogue_id AS item_id, TRUE AS flagged
    FROM quality.checks
    WHERE outcome = 'review' OR (outcome = 'drop' AND kind = 'benchmark')
) AS c USING (item_id)
ORDER BY c.flagged IS NULL, q.kind, q.item_id;
