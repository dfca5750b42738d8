-- Answers that people give scores to, in a fixed order.
SELECT item_id, kind, set_id, content, content_hash, context, image_ids
FROM evaluate.score_queue
ORDER BY item_id;
