-- Models whose results on one release were not taken in the last run of a stage, and why.
SELECT model, stage, asked, n_lost, n_turns, why
FROM evaluate.missing
WHERE release_id = $release_id
ORDER BY model, stage;
