-- The leaderboards of one release: each model under each judge and version by the metric that ranks, failures at
-- the floor, and of how many clusters (groups of items that belong together, else items) the release is.
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
    s.n_items,
    s.n_turns,
    s.n_judged,
    s.n_failed,
    s.n_refused,
    s.n_truncated,
    s.n_reasoning_only,
    s.n_empty,
    c.n_clusters,
    s.provider
FROM evaluate.scores AS s
LEFT JOIN (SELECT * FROM evaluate.scores WHERE form = 'judged') AS j
    USING (
        release_id, model, judge, judge_version, metric, aggregation, subset_label, subset_value
    )
LEFT JOIN evaluate.ranks AS r USING (release_id, model, judge, judge_version, metric, aggregation)
JOIN (
    SELECT release_id, count(DISTINCT coalesce(group_id, item_id)) AS n_clusters
    FROM release.items
    GROUP BY release_id
) AS c USING (release_id)
WHERE s.release_id = $release_id AND s.place = 0 AND s.form = 'floor' AND s.subset_label = ''
ORDER BY s.judge, s.judge_version, s.value DESC NULLS LAST, s.n_refused, s.model;
