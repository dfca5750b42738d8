-- What a decision needs to know of its lock: which round and content it is on, when it ends, what the item
-- awaits now, and the draft.
SELECT
    l.round, l.content_hash, l.expires_at,
    s.status, s.round AS round_now, s.content_hash AS content_now, d.draft
FROM locks AS l
LEFT JOIN standings AS s USING (item_id)
LEFT JOIN drafts AS d
    ON d.item_id = l.item_id AND d.content_hash = l.content_hash
    AND d.round = l.round AND d.annotator = l.annotator
WHERE l.token = :token AND l.item_id = :item_id AND l.annotator = :annotator
