-- Rows of evaluate.pair_biases on one release.
SELECT *
FROM evaluate.pair_biases
WHERE release_id = $release_id
ORDER BY ALL;
