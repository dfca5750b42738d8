-- Scores on one release by the first metric that is split, which ranks if it is micro, of the items and turns with each value of each label.
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
    n_clusters,
    method,
    seed,
    n_units,
    n_items,
    n_turns
FROM evaluate.scores
WHERE release_id = $release_id AND form = 'floor' AND subset_label <> '' AND place = (
    SELECT min(place) FROM evaluate.scores WHERE release_id = $release_id AND subset_label <> ''
)
ORDER BY judge, judge_version, subset_label, subset_value, value DESC NULLS LAST, model;
