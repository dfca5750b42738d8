-- The predictions of every file on one release.
SELECT model, item_id, trial, turn, prediction
FROM evaluate.predictions
WHERE release_id = $release_id
ORDER BY model, item_id, trial, turn;
