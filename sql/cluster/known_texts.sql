-- How many texts of entries have a vector of this model; no row if none has.
SELECT count(DISTINCT text_id) AS n
FROM cluster.entry_texts
SEMI JOIN (SELECT text_id FROM cluster.embeddings WHERE model = $model) USING (text_id)
HAVING n > 0;
