-- Every file of predictions, by release and model.
SELECT * FROM evaluate.prediction_files ORDER BY release_id, model;
