-- The imported scores of people on one release.
SELECT item_id, model, turn, dimension, rater, score, reason, content_hash
FROM evaluate.human_scores
WHERE release_id = $release_id
ORDER BY item_id, model, turn, dimension, rater;
