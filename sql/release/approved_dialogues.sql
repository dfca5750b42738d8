-- Approved dialogues of one kind, as they stand after review and as they were generated.
SELECT a.item_id, a.set_id, a.revision, a.reviewers, a.content, q.generated
FROM review.approved AS a
JOIN (SELECT item_id, content AS generated FROM review.queue) AS q USING (item_id)
JOIN (SELECT DISTINCT set_id, kind FROM cluster.image_sets) AS s USING (set_id)
WHERE a.kind = 'dialogue' AND a.status = 'approved' AND s.kind = $kind
ORDER BY a.item_id;
