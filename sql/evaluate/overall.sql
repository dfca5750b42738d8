-- One row for each model on some releases, by judge and version: the metric that ranks, failures at the floor,
-- best first.
SELECT
    s.release_id AS release,
    s.model,
    s.label,
    s.rank,
    s.rank_low,
    s.rank_high,
    s.why,
    s.mark,
    s.metric || '/' || s.aggregation AS metric,
    s.value,
    s.ci_low,
    s.ci_high,
    s.n_clusters,
    s.judged_only,
    e.value AS all_items,
    e.n_items - s.n_items AS n_without_picture,
    s.n_judged,
    s.n_refused,
    s.n_truncated + s.n_reasoning_only + s.n_empty AS n_no_answer,
    s.n_failed,
    s.judge,
    s.judge_version,
    s.provider,
    k.constant_score,
    s.settings
FROM evaluate.results AS s
LEFT JOIN (SELECT * FROM evaluate.scores WHERE form = 'all_items') AS e
    USING (
        release_id, model, judge, judge_version, metric, aggregation, subset_label, subset_value
    )
LEFT JOIN evaluate.constant_judges AS k USING (release_id, judge, judge_version)
SEMI JOIN (SELECT unnest($release_ids) AS release_id) AS wanted ON wanted.release_id = s.release_id
WHERE s.place = 0 AND s.form = 'floor' AND s.subset_label = ''
ORDER BY s.benchmark, s.release_id, s.judge, s.judge_version, s.value DESC NULLS LAST, s.n_refused, s.model;
