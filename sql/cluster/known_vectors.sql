-- Vectors that need no making again.
SELECT DISTINCT text, vector FROM cluster.embeddings WHERE model = $model;
