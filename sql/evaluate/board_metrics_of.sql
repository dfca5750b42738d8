-- Scores on one release by every metric, of everything, failures at the floor.
SELECT
    release_id,
    judge,
    judge_version,
    metric,
    aggregation,
    place,
    model,
    value,
    ci_low,
    ci_high,
    n_units
FROM evaluate.scores
WHERE release_id = $release_id AND form = 'floor' AND subset_label = ''
ORDER BY judge, judge_version, place, value DESC NULLS LAST, model;
