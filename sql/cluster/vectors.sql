-- Every vector of one model that some entry has, once.
SELECT text_id, vector
FROM cluster.embeddings
SEMI JOIN cluster.entry_texts USING (text_id)
WHERE model = $model;
