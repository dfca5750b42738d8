-- Scores on one release by the metric that ranks, of the items and turns with each value of each label.
SELECT
    release_id,
    judge,
    judge_version,
    metric,
    aggregation,
    subset_label,
    subset_value,
    model,
    value,
    ci_low,
    ci_high,
    n_units,
    n_items,
    n_turns
FROM evaluate.scores
WHERE release_id = $release_id AND place = 0 AND form = 'floor' AND subset_label <> ''
ORDER BY judge, judge_version, subset_label, subset_value, value DESC NULLS LAST, model;
