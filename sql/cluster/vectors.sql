-- Both vectors of every entry that has them.
SELECT entry_id, a.vector AS category, b.vector AS caption
FROM cluster.embeddings AS a
JOIN cluster.embeddings AS b USING (entry_id)
WHERE a.space = 'category' AND b.space = 'caption'
ORDER BY entry_id;
