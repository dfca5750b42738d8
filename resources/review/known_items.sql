-- What was offered before.
SELECT item_id, content_hash, made_of, place, withdrawn FROM items
