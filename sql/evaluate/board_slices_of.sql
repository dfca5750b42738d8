-- Scores on one release of the items and turns with each value of each label, by the first metric that is split by
-- labels: the one that ranks, unless it is a mean over the values of a label itself.
SELECT
    s.release_id,
    s.judge,
    s.judge_version,
    s.metric,
    s.aggregation,
    s.subset_label,
    s.subset_value,
    s.model,
    s.value,
    s.ci_low,
    s.ci_high,
    s.n_clusters,
    s.method,
    s.seed,
    s.n_units,
    s.n_items,
    s.n_turns
FROM evaluate.scores AS s
JOIN (
    SELECT release_id, judge, judge_version, min(place) AS place
    FROM evaluate.scores
    WHERE release_id = $release_id AND form = 'floor' AND subset_label <> ''
    GROUP BY release_id, judge, judge_version
) AS first USING (release_id, judge, judge_version, place)
WHERE s.form = 'floor' AND s.subset_label <> ''
ORDER BY
    s.judge, s.judge_version, s.subset_label, s.subset_value, s.value DESC NULLS LAST, s.model;
