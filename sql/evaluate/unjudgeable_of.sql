-- Contestants that answered on one release where it has no reference to judge the answer by.
SELECT DISTINCT o.model
FROM evaluate.observations AS o
JOIN evaluate.answers AS a USING (release_id, model, item_id, trial, turn)
WHERE o.release_id = $release_id AND o.status = 'no_reference' AND a.status = 'answered'
ORDER BY o.model;
