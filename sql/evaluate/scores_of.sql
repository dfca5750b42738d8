-- Every judge's scores of every model on one release: of everything in all forms, of subsets with failures
-- at the floor.
SELECT *
FROM evaluate.scores
WHERE release_id = $release_id AND (subset_label = '' OR form = 'floor')
ORDER BY place, metric, aggregation, form, subset_label, subset_value, model, judge, judge_version;
