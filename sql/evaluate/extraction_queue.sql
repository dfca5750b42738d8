-- Answers whose letter people read, in a fixed order.
SELECT item_id, kind, set_id, content, content_hash, context, image_ids
FROM evaluate.extraction_queue
ORDER BY item_id;
