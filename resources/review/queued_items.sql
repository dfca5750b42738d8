-- The items of some kinds in the queue, in their order.
SELECT c.item
FROM items AS i
JOIN item_contents AS c USING (item_id)
WHERE i.withdrawn = 0 AND i.kind IN (SELECT value FROM json_each(:kinds))
ORDER BY i.place
