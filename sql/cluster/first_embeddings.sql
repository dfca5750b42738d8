-- Some embedded texts of entries, for the run's preview.
SELECT entry_id, space, text, model
FROM cluster.entry_texts
JOIN cluster.embeddings USING (text_id, text)
WHERE model = $model
ORDER BY entry_id, space
LIMIT 6;
