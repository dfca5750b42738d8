-- What is offered now of some kinds, in the order it was offered.
SELECT c.item
FROM items AS i
JOIN item_contents AS c USING (item_id)
WHERE i.withdrawn = 0 AND i.kind IN (SELECT value FROM json_each(:kinds))
ORDER BY i.place
