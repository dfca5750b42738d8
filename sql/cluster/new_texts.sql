-- Distinct texts without a vector of this model, the longest first.
SELECT text_id, text
FROM (SELECT DISTINCT text_id, text FROM cluster.entry_texts) AS t
ANTI JOIN cluster.embeddings AS e ON e.text_id = t.text_id AND e.model = $model
ORDER BY length(text) DESC, text;
