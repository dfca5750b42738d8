-- Every item of some kinds that was ever queued.
SELECT item_id, content_hash, made_of, place, withdrawn
FROM items
WHERE kind IN (SELECT value FROM json_each(:kinds))
