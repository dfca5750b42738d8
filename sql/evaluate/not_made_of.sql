-- What the steps of evaluation did not make of one release in their last runs, and why.
SELECT step, release_id, reason
FROM evaluate.not_made
WHERE release_id IN ($release_id, '')
ORDER BY step, release_id;
