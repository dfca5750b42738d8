-- The label of each model that has the same one on all releases.
SELECT model, any_value(label) AS label
FROM evaluate.candidates
GROUP BY model
HAVING count(DISTINCT label) = 1
ORDER BY model;
