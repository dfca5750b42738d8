-- Releases that have answers, and the benchmark that each is of.
SELECT DISTINCT benchmark, release_id FROM evaluate.answers ORDER BY release_id;
