-- The leaderboards of one release: each model under each judge and version by the metric that ranks, failures at
-- the floor, with the clusters (groups of items that belong together, else items) that intervals rest on.
SELECT
    s.benchmark,
    s.release_id AS release,
    s.judge,
    s.judge_version,
    s.metric,
    s.aggregation,
    s.model,
    r.rank,
    r.rank_low,
    r.rank_high,
    s.value,
    s.ci_low,
    s.ci_high,
    j.value AS judged_only,
    r.coverage,
    r.why AS why_no_rank,
    r.mark,
    s.n_items,
    s.n_turns,
    s.n_judged,
    s.n_failed,
    s.n_refused,
    s.n_truncated,
    s.n_reasoning_only,
    s.n_empty,
    s.n_clusters,
    s.method,
    s.seed,
    s.provider
FROM evaluate.scores AS s
LEFT JOIN (SELECT * FROM evaluate.scores WHERE form = 'judged') AS j
    USING (
        release_id, model, judge, judge_version, metric, aggregation, subset_label, subset_value
    )
LEFT JOIN evaluate.ranks AS r USING (release_id, model, judge, judge_version, metric, aggregation)
WHERE s.release_id = $release_id AND s.place = 0 AND s.form = 'floor' AND s.subset_label = ''
ORDER BY s.judge, s.judge_version, s.value DESC NULLS LAST, s.n_refused, s.model;
