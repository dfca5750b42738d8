-- One judge's scores of every model on one release.
SELECT * FROM evaluate.scores WHERE release_id = $release_id AND judge = $judge ORDER BY dimension, aggregation, model;
