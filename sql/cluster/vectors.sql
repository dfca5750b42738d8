-- The vectors of one model for the texts of entries, each text once.
SELECT text_id, vector
FROM cluster.embeddings
SEMI JOIN cluster.entry_texts USING (text_id)
WHERE model = $model;
