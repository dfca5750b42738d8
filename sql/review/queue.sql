-- The review queue, in a fixed order.
SELECT item_id, kind, set_id, content, content_hash, context, image_ids
FROM review.queue
ORDER BY kind, item_id;
