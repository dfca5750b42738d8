-- What the steps of evaluation did not make in their last runs, and why.
SELECT step, release_id, reason
FROM evaluate.not_made
ORDER BY step, release_id;
