-- The scored answers of one release of which no training pair is made.
SELECT *
FROM evaluate.critic_left_out
WHERE release_id = $release_id
ORDER BY model, item_id, trial, turn, part;
