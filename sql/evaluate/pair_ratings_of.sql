-- Rows of evaluate.pair_ratings on one release.
SELECT *
FROM evaluate.pair_ratings
WHERE release_id = $release_id
ORDER BY ALL;
