-- The text of every answer on one release that has any.
SELECT model, item_id, trial, turn, answer
FROM evaluate.shown_answers
WHERE release_id = $release_id AND answer IS NOT NULL
ORDER BY model, item_id, trial, turn;
