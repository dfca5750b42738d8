-- Releases with comparisons of answers.
SELECT DISTINCT benchmark, release_id
FROM evaluate.pairs
ORDER BY release_id;
