-- Releases that have observations, and the benchmark that each is of.
SELECT DISTINCT benchmark, release_id FROM evaluate.observations ORDER BY release_id;
