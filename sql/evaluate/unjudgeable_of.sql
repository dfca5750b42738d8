-- Candidates that answered on one release where it has no reference to judge the answer by.
SELECT DISTINCT a.model
FROM evaluate.shown_answers AS a
ANTI JOIN (FROM release.references WHERE kind IN ('answer', 'key')) AS r
    ON r.release_id = a.release_id AND r.item_id = a.item_id AND r.turn = a.turn
WHERE a.release_id = $release_id AND a.status = 'answered'
ORDER BY a.model;
