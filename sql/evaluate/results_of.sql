-- The results of one release: every score, with the rank by its metric. A score of everything is there in each form, a
-- score of a subset with failures at the floor. `judged_only` is the score without what the model failed.
SELECT
    s.*,
    coalesce(c.label, s.model) AS label,
    c.settings,
    j.value AS judged_only,
    r.rank,
    r.rank_low,
    r.rank_high,
    r.coverage,
    r.why,
    r.mark,
    r.related
FROM evaluate.scores AS s
LEFT JOIN (SELECT * FROM evaluate.scores WHERE form = 'judged') AS j
    USING (
        release_id, model, judge, judge_version, metric, aggregation, subset_label, subset_value
    )
LEFT JOIN (FROM evaluate.candidates WHERE release_id = $release_id) AS c USING (release_id, model)
LEFT JOIN evaluate.ranks AS r USING (release_id, model, judge, judge_version, metric, aggregation)
WHERE s.release_id = $release_id AND (s.subset_label = '' OR s.form = 'floor')
ORDER BY
    s.judge,
    s.judge_version,
    s.place,
    s.form,
    s.subset_label,
    s.subset_value,
    s.value DESC NULLS LAST,
    s.n_refused,
    s.model;
