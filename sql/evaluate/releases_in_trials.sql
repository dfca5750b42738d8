-- Releases with observations in any of these trials, and the benchmark that each is of.
SELECT DISTINCT benchmark, release_id
FROM evaluate.observations
WHERE list_contains($trials, trial)
ORDER BY release_id;
