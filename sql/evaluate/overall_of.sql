-- The score that ranks of each model on one release, under each judge and version of its prompt.
SELECT model, judge, judge_version, metric, aggregation, value, ci_low, ci_high
FROM evaluate.scores
WHERE release_id = $release_id AND place = 0 AND form = 'floor' AND subset_label = ''
ORDER BY value DESC NULLS LAST, model, judge, judge_version;
