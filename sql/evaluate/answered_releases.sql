-- Releases that have answers, and the benchmark that each is of.
SELECT DISTINCT benchmark, release_id FROM evaluate.shown_answers ORDER BY release_id;
