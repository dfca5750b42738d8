-- Flagged items that people decide on, in a fixed order.
SELECT item_id, kind, set_id, content, content_hash, context, image_ids
FROM evaluate.item_queue
ORDER BY item_id;
