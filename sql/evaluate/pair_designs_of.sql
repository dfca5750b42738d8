-- Rows of evaluate.pair_designs on one release.
SELECT *
FROM evaluate.pair_designs
WHERE release_id = $release_id
ORDER BY ALL;
