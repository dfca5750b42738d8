-- Scores of every model on one release.
SELECT * FROM evaluate.scores WHERE release_id = $release_id ORDER BY dimension, aggregation, model;
