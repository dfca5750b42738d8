-- The scores of candidates on each value of a label, failures at the floor: of the first metric that is
-- split by it.
SELECT benchmark, release_id, judge, judge_version, metric, model, subset_value AS task, value, n_units
FROM evaluate.scores
WHERE subset_label = $label AND form = 'floor' AND aggregation = 'micro' AND isfinite(value)
QUALIFY place = min(place) OVER (PARTITION BY release_id, judge, judge_version)
ORDER BY release_id, judge, judge_version, task, model;
