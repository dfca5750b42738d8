-- Who has which item now, those first of whom nothing was heard for longest.
SELECT l.item_id, l.annotator, l.round, l.expires_at, i.kind, i.title
FROM locks AS l
JOIN items AS i USING (item_id)
WHERE l.expires_at > :now
ORDER BY l.expires_at, l.item_id
